/** SPDY/3.1 frames as bytes and values: as much of them as Kubernetes' clients send and read. */

export const frameTypes = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const

/** Codes of RST_STREAM. */
export const resetCodes = { protocolError: 1, refusedStream: 3, cancel: 5 } as const

/** This stream ends on the sender's side. */
export const finFlag = 1

const version = 3
/** Bytes before the payload. */
const headLength = 8
/** Bytes of a control frame: headers are compressed, and few. */
const mostControl = 64 * 1024

export type Frame =
  | { kind: 'control'; type: number; flags: number; payload: Uint8Array }
  /** `last`: nothing of this data frame follows. */
  | { kind: 'data'; stream: number; payload: Uint8Array; fin: boolean }

/** What the peer sent is no SPDY/3.1, or too large; the session ends. */
export class SpdyError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SpdyError'
  }
}

/** Cuts a stream of bytes into frames. Data comes in the pieces that arrive: no frame is held back until it is whole. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)
  /** Of the data frame under way. */
  #data: { stream: number; left: number; fin: boolean } | undefined;

  /** Throws SpdyError. */
  *read(chunk: Uint8Array): Generator<Frame> {
    this.#rest = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk])
    for (let frame = this.#next(); frame; frame = this.#next()) yield frame
  }

  #next(): Frame | undefined {
    if (this.#data) return this.#nextData(this.#data)
    const rest = this.#rest
    if (rest.length < headLength) return undefined
    const first = rest.readUInt32BE(0)
    const flags = rest.readUInt8(4)
    const length = rest.readUIntBE(5, 3)
    if (first < 0x8000_0000) {
      this.#data = { stream: first, left: length, fin: (flags & finFlag) !== 0 }
      this.#rest = rest.subarray(headLength)
      return this.#nextData(this.#data)
    }
    if (((first >>> 16) & 0x7fff) !== version) throw new SpdyError('a frame is not of SPDY version 3')
    if (length > mostControl) throw new SpdyError('a control frame is too large')
    if (rest.length < headLength + length) return undefined
    this.#rest = rest.subarray(headLength + length)
    const payload = rest.subarray(headLength, headLength + length)
    return { kind: 'control', type: first & 0xffff, flags, payload }
  }

  #nextData(data: { stream: number; left: number; fin: boolean }): Frame | undefined {
    const payload = this.#rest.subarray(0, data.left)
    if (payload.length === 0 && data.left > 0) return undefined
    this.#rest = this.#rest.subarray(payload.length)
    data.left -= payload.length
    const whole = data.left === 0
    if (whole) this.#data = undefined
    return { kind: 'data', stream: data.stream, payload, fin: whole && data.fin }
  }
}

export function dataFrame(stream: number, payload: Uint8Array, fin: boolean): Buffer {
  const head = Buffer.alloc(headLength)
  head.writeUInt32BE(stream, 0)
  head.writeUInt8(fin ? finFlag : 0, 4)
  head.writeUIntBE(payload.length, 5, 3)
  return Buffer.concat([head, payload])
}

export function controlFrame(type: number, flags: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(headLength)
  head.writeUInt16BE(0x8000 | version, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt8(flags, 4)
  head.writeUIntBE(payload.length, 5, 3)
  return Buffer.concat([head, payload])
}

/** Numbers of 32 bits, one behind the other. */
export function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * index)
  return bytes
}

/** The number at `offset`, without the bit that is reserved. Throws SpdyError when it is not there. */
export function wordAt(payload: Uint8Array, offset: number): number {
  if (payload.length < offset + 4) throw new SpdyError('a control frame is too short')
  return Buffer.from(payload.buffer, payload.byteOffset, payload.length).readUInt32BE(offset) & 0x7fff_ffff
}

/** Names are lower case; several values of one name are joined with a comma. Throws SpdyError. */
export function parseHeaderBlock(block: Uint8Array): Record<string, string> {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.length)
  let offset = 0
  const text = () => {
    const length = wordAt(bytes, offset)
    const end = offset + 4 + length
    if (end > bytes.length) throw new SpdyError('a header is cut off')
    const value = bytes.toString('utf8', offset + 4, end)
    offset = end
    return value
  }
  const count = wordAt(bytes, 0)
  offset = 4
  const headers: [string, string][] = []
  for (let index = 0; index < count; index++)
    headers.push([text().toLowerCase(), text().replaceAll('\0', ', ')])
  return Object.fromEntries(headers)
}
