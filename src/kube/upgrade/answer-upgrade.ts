import type { Duplex } from 'node:stream'
import { STATUS_CODES } from '../node-http.ts'
import type { ApiResponse } from '../transport.ts'

/** Hands the connection over, or answers on it and closes it: what the client sent behind its request is no request. */
export async function answerUpgrade(
  answer: ApiResponse,
  connection: Duplex,
  head: Uint8Array,
): Promise<void> {
  if (answer.takeOver) return answer.takeOver(connection, head)
  const { status, headers, body } = answer
  if (!(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().return?.()
  const whole = body instanceof Uint8Array ? body : new Uint8Array()
  const lines = Object.entries({
    ...headers,
    connection: 'close',
    'content-length': String(whole.length),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  if (connection.destroyed) return
  connection.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${lines.join('')}\r\n`)
  connection.end(whole)
}
