import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { request as sendHttp } from '../../kube/node-http.ts'
import type { ApiRequest, ApiResponse } from '../../kube/transport.ts'
import { splice } from '../../kube/upgrade/splice.ts'
import {
  switchingProtocols,
  upgradeRequestHeaders,
  wantedUpgrade,
} from '../../kube/upgrade/upgrade-headers.ts'
import type { Clock } from '../../ports.ts'
import { plainText } from '../node-response.ts'

/** Milliseconds that the runtime has for its answer. */
const PATIENCE = 30_000
/** Bytes of a refusal that are told. */
const MOST_REFUSAL = 16 * 1024

/**
 * Asks the runtime's own streaming server (an http URL of this machine) for the same upgrade, and passes bytes on: neither
 * SPDY nor WebSocket is looked at. Rejects when it cannot be reached or does not answer.
 */
export async function passThrough(url: string, request: ApiRequest, clock: Clock): Promise<ApiResponse> {
  const answer = await ask(url, request, clock)
  const { response, connection, head } = answer
  if (!connection) return plainText(response.statusCode ?? 502, await textOf(response))
  connection.on('error', () => connection.destroy())
  const upgrade = wantedUpgrade(request.headers) ?? ''
  return {
    status: 101,
    headers: {},
    body: new Uint8Array(),
    takeOver(client, early) {
      if (client.destroyed) return void connection.destroy()
      client.write(switchingProtocols(upgrade, response.headers))
      if (head.length > 0) client.write(head)
      if (early.length > 0) connection.write(early)
      splice(client, connection, clock)
    },
  }
}

interface Answer {
  response: IncomingMessage
  /** Absent: it stays HTTP. */
  connection?: Duplex
  head: Uint8Array
}

function ask(url: string, { method, headers, signal }: ApiRequest, clock: Clock): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = sendHttp(url, {
      method,
      headers: upgradeRequestHeaders(headers),
      agent: false,
      ...(signal && { signal }),
    })
    const timer = clock.after(PATIENCE, () => request.destroy(new Error('the runtime does not answer')))
    request.once('response', response => {
      timer.cancel()
      resolve({ response, head: new Uint8Array() })
    })
    request.once('upgrade', (response, connection: Duplex, head: Uint8Array) => {
      timer.cancel()
      resolve({ response, connection, head })
    })
    request.on('error', error => {
      timer.cancel()
      reject(error)
    })
    request.end()
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = []
  let left = MOST_REFUSAL
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    parts.push(chunk.subarray(0, left))
    left -= chunk.length
    if (left <= 0) break
  }
  return Buffer.concat(parts).toString('utf8')
}
