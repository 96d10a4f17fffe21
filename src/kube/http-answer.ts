// What both transports do with an answer of HTTP, whichever client brought it.
import { RollcallError } from '../errors.ts'
import type { ConnectionConfig } from './transport.ts'

/** The header that proves who asks; the token is read anew each time, as its file may hold another by now. */
export async function authorization(config: ConnectionConfig): Promise<Record<string, string>> {
  const token = config.readBearerToken ? await config.readBearerToken() : config.bearerToken
  return token ? { authorization: `Bearer ${token.reveal()}` } : {}
}

/** All of a body. Throws an Error for one of more than `most` bytes, as soon as it is. */
export async function wholeBody(
  body: AsyncIterable<Uint8Array>,
  most = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  // Leaving the loop ends the answer.
  for await (const part of body) {
    length += part.length
    if (length > most) throw new Error(`the answer is longer than ${most} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The parts of a watch, which ends quietly when `signal` says so, and otherwise with API_UNREACHABLE. */
export async function* chunks(
  config: ConnectionConfig,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    if (!signal?.aborted) throw unreachable(config, error)
  }
}

/** Headers that stand more than once become one, as RFC 9110 5.3 allows. */
export function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}

/** What a transport rejects with, whatever went wrong. */
export function unreachable(config: Pick<ConnectionConfig, 'server'>, cause: unknown): RollcallError {
  if (cause instanceof RollcallError) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  return new RollcallError(
    'API_UNREACHABLE',
    `no answer from ${config.server}: ${why}; check the address and that the server runs`,
    { server: config.server },
    { cause },
  )
}
