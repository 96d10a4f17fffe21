/** Bytes on a connection: HTTP/1.1 and HTTP/2 that is nearly right, as no library would send it. */
import { Buffer } from 'node:buffer'
import type { Chance } from './chance.ts'
import { damaged } from './protobuf.ts'
import { numeral, word } from './text.ts'

export interface RawMessage {
  protocol: 'http/1.1' | 'h2'
  bytes: Uint8Array
}

export function rawMessage(chance: Chance): RawMessage {
  return chance.maybe(0.5)
    ? { protocol: 'http/1.1', bytes: damaged(chance, Buffer.from(http1(chance)), 0.4) }
    : { protocol: 'h2', bytes: damaged(chance, http2(chance), 0.2) }
}

const path = '/api/v1/namespaces/default/configmaps'

function http1(chance: Chance): string {
  const body = chance.pick(['', '{}', '{"metadata":{"name":"raw"}}', word(chance)])
  const framing = chance.pick([
    `content-length: ${body.length}`,
    `content-length: ${numeral(chance)}`,
    `content-length: 1\r\ncontent-length: 2`,
    'transfer-encoding: chunked',
    `transfer-encoding: chunked\r\ncontent-length: ${body.length}`,
    'expect: 100-continue',
    'upgrade: websocket\r\nconnection: upgrade',
    '',
  ])
  const headers = chance.some(5, () =>
    chance.pick([`${word(chance)}: ${word(chance)}`, `x: ${'y'.repeat(chance.below(20_000))}`, 'a', ': b']),
  )
  const method = chance.pick(['GET', 'POST', 'PUT', 'CONNECT', 'PRI', word(chance)])
  const target = chance.pick([path, '*', 'http://other/', word(chance), `/${'a/'.repeat(5000)}`])
  const version = chance.pick(['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9'])
  const head = [`${method} ${target} ${version}`, 'host: x', framing, ...headers].filter(Boolean).join('\r\n')
  const chunked = framing.includes('chunked')
    ? chance.pick([
        `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
        'ffffffffffff\r\n',
        `-1\r\n${body}`,
      ])
    : body
  const one = `${head}\r\n\r\n${chunked}`
  // Pipelined, or one request smuggled behind another.
  return chance.maybe(0.2) ? one + one : one
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** HPACK: `:method GET`, `:scheme https`, `:path /`, from the static table. */
const headerBlock = Buffer.from([0x82, 0x87, 0x84])

function http2(chance: Chance): Uint8Array {
  const frames = chance.some(30, () => frame(chance))
  return Buffer.concat([preface, settings(chance), ...frames])
}

const settings = (chance: Chance) =>
  frameOf(
    4,
    0,
    0,
    chance.maybe(0.7) ? Buffer.alloc(0) : Buffer.from(chance.random.bytes(6 * chance.below(4))),
  )

function frame(chance: Chance): Buffer {
  const stream = chance.maybe(0.8) ? 1 + 2 * chance.below(8) : chance.below(2 ** 31)
  const kind = chance.below(6)
  if (kind <= 1) return frameOf(1, chance.pick([4, 5, 0, 1]), stream, headers(chance))
  if (kind === 2)
    return frameOf(0, chance.below(2), stream, Buffer.from(chance.random.bytes(chance.below(200))))
  if (kind === 3) return frameOf(3, 0, stream, Buffer.from([0, 0, 0, 8]))
  if (kind === 4) return frameOf(8, 0, chance.pick([0, stream]), Buffer.from(chance.random.bytes(4)))
  return frameOf(
    chance.below(12),
    chance.below(256),
    stream,
    Buffer.from(chance.random.bytes(chance.below(40))),
  )
}

const headers = (chance: Chance) =>
  chance.maybe(0.7)
    ? Buffer.concat([headerBlock, Buffer.from([0x00, 0x01, 0x78, 0x01, 0x79])])
    : Buffer.from(chance.random.bytes(chance.below(60)))

function frameOf(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream % 2 ** 31, 5)
  return Buffer.concat([head, payload])
}
