/** A first handshake, as a machine makes it that knows nothing but what it was given. */
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { systemCode } from '../../errors.ts'
import type { Clock } from '../../ports.ts'

export interface Endpoint {
  host: string
  port: number
}

/** Milliseconds. */
const patience = 5000

/** Why the endpoint is not trusted by these CAs (PEM), or cannot be reached; undefined: it is. Nothing is resumed. */
export function dial(
  { host, port }: Endpoint,
  authorities: string,
  clock: Clock,
): Promise<string | undefined> {
  return new Promise(resolve => {
    const socket = connect({
      host,
      port,
      ca: authorities === '' ? [] : authorities,
      ...(isIP(host) === 0 && { servername: host }),
    })
    const timer = clock.after(patience, () => end('no answer in time'))
    socket.on('secureConnect', () => end(undefined))
    socket.on('error', error => end(systemCode(error) ?? error.message))
    socket.on('close', () => end('the connection was closed'))
    function end(answer: string | undefined): void {
      timer.cancel()
      socket.destroy()
      resolve(answer)
    }
  })
}
