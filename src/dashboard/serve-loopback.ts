import type { IncomingMessage, ServerResponse } from 'node:http'
import { responseAnswer } from '../apiserver/http/exchange.ts'
import { respond } from '../apiserver/http/respond.ts'
import { RollcallError, systemCode } from '../errors.ts'
import { createServer } from '../kube/node-http.ts'
import type { ApiRequest } from '../kube/transport.ts'
import type { Clock, Log } from '../ports.ts'
import { refuse } from './answers.ts'
import type { Dashboard } from './dashboard.ts'

export interface LoopbackOptions {
  dashboard: Dashboard
  /** 0: a free one. */
  port: number
  clock: Clock
  log: Log
}

export interface RunningLoopback {
  port: number
  close(): Promise<void>
}

/** Bytes of a request's body: an order with its reason. */
const mostBody = 64 * 1024

/**
 * The dashboard alone on plain HTTP at 127.0.0.1, for browsers: they do not know the cluster's CA, and nobody should learn
 * to click its warning away. Rejects with PORT_IN_USE.
 */
export async function serveLoopback({
  dashboard,
  port,
  clock,
  log,
}: LoopbackOptions): Promise<RunningLoopback> {
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 20_000 }, (message, response) => {
    answer(message, response).catch((error: unknown) => {
      // Somebody left in the middle of his request.
      if (message.destroyed && !message.complete) return
      log.error('an answer of the dashboard could not be sent', { error: String(error) })
      response.destroy()
    })
  })

  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const request = await apiRequest(message, gone.signal)
    const peer = { remoteAddress: message.socket.remoteAddress ?? '' }
    const answered = request ? await dashboard.handle(request, peer) : refuse(413, 'the body is too long')
    // The rest of a body that was refused is not read, so the connection cannot be used again.
    if (!request) answered.headers.connection = 'close'
    await respond(responseAnswer(response), answered, gone.signal, clock)
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(listenError(error, port)))
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Undefined: its body is too long. */
async function apiRequest(message: IncomingMessage, signal: AbortSignal): Promise<ApiRequest | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  // A refused body must not end the connection that the refusal is sent on.
  const body: AsyncIterable<Buffer> = message.iterator({ destroyOnReturn: false })
  for await (const chunk of body) {
    length += chunk.length
    if (length > mostBody) return undefined
    chunks.push(chunk)
  }
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(message.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  const { method = 'GET', url = '/' } = message
  return { method, url, headers, signal, ...(length > 0 && { body: Buffer.concat(chunks) }) }
}

function listenError(error: Error, port: number): Error {
  const code = systemCode(error)
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return error
  const text = `127.0.0.1:${port} cannot be listened on (${code}); give another --dashboard-port`
  return new RollcallError('PORT_IN_USE', text, { port }, { cause: error })
}
