/** Sends raw messages to a real server over TLS; after each the server must still answer. */
import { once } from 'node:events'
import { connect } from 'node:tls'
import { serve } from '../../src/apiserver/http/server.ts'
import { systemClock } from '../../src/host/clock.ts'
import { Secret } from '../../src/keys/secret.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import type { Log } from '../../src/ports.ts'
import { foreignPair } from '../../src/testing/https-server.ts'
import { chanceOf } from './chance.ts'
import { rawMessage } from './raw-http.ts'
import { startTarget } from './target.ts'

export interface RawRun {
  messages: number
  findings: string[]
}

export async function rawRun(seed: number, more: (index: number) => boolean): Promise<RawRun> {
  const run: RawRun = { messages: 0, findings: [] }
  const target = await startTarget()
  const pair = await foreignPair('apiserver')
  const log: Log = {
    info() {},
    warn() {},
    error: (message, fields) =>
      run.findings.push(`message ${run.messages}: ${message} ${JSON.stringify(fields)}`),
  }
  const tls = { ...pair, key: new Secret(pair.key), clientCertificateAuthorities: pair.certificate }
  const server = await serve({ api: target.api, port: 0, tls, clock: systemClock, log })
  const healthy = connectUndici({
    server: `https://127.0.0.1:${server.port}`,
    certificateAuthority: pair.certificate,
  })
  for (; more(run.messages); run.messages++) {
    const { protocol, bytes } = rawMessage(chanceOf(seed, run.messages))
    const socket = connect({
      port: server.port,
      host: '127.0.0.1',
      ca: pair.certificate,
      ALPNProtocols: [protocol],
    })
    // What the server does to the connection is its affair.
    socket.on('error', () => {})
    socket.resume()
    await once(socket, 'secureConnect')
    socket.write(bytes)
    const { status } = await healthy.request({ method: 'GET', url: '/healthz', headers: {} })
    if (status !== 200) run.findings.push(`message ${run.messages}: /healthz answers ${status}`)
    socket.destroy()
  }
  healthy.closeConnections()
  await target.close()
  await server.close()
  return run
}
