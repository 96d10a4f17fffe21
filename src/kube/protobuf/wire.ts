/** The protobuf wire format: tags, varints and length-delimited bytes of one message. Strict; never reads past its end. */
import { RollcallError } from '../../errors.ts'

export const malformed = (message: string, cause?: unknown) =>
  new RollcallError('PROTOBUF_MALFORMED', message, {}, cause === undefined ? undefined : { cause })

/** Wire types: what follows a tag. Groups (3, 4) are refused as in Kubernetes. */
export type WireType = 'varint' | 'fixed64' | 'bytes' | 'fixed32'
const wireTypes: Readonly<Record<number, WireType>> = { 0: 'varint', 1: 'fixed64', 2: 'bytes', 5: 'fixed32' }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bytes up to which a text is read byte by byte. */
const shortText = 64

/** Throws PROTOBUF_MALFORMED for bytes that are not UTF-8: two readers could otherwise see different names. */
export function textOf(bytes: Uint8Array): string {
  // Nearly all is ASCII and short, for which a TextDecoder costs more than the text.
  if (bytes.length <= shortText) {
    let text = ''
    for (const byte of bytes) {
      if (byte >= 0x80) return decodeUtf8(bytes)
      text += String.fromCharCode(byte)
    }
    return text
  }
  return decodeUtf8(bytes)
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw malformed('proto: a string is not valid UTF-8', cause)
  }
}

export class WireReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** Field number and wire type of the next value. */
  tag(): { field: number; wireType: WireType } {
    const tag = this.#unsigned()
    const wireType = wireTypes[tag % 8]
    if (!wireType) throw malformed(`proto: illegal wireType ${tag % 8}`)
    const field = Math.floor(tag / 8)
    if (field < 1 || field > 0x1fffffff) throw malformed(`proto: illegal tag ${field}`)
    return { field, wireType }
  }

  /** Unsigned, at most 64 bits in at most ten bytes. */
  varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw malformed('proto: unexpected end of the message')
      if (shift === 63n && byte > 1) break
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw malformed('proto: integer overflow')
  }

  /** int32 and int64 alike: two's complement of 64 bits. Throws for what a JavaScript number cannot hold exactly. */
  integer(): number {
    const small = this.#small()
    if (small !== undefined) return small
    const value = this.varint()
    const number = Number(BigInt.asIntN(64, value))
    if (!Number.isSafeInteger(number)) throw malformed(`proto: the integer ${value} is out of range`)
    return number
  }

  boolean(): boolean {
    const small = this.#small()
    return small === undefined ? this.varint() !== 0n : small !== 0
  }

  /** A view, not a copy. */
  bytes(): Uint8Array {
    return this.#take(this.#unsigned())
  }

  skip(wireType: WireType): void {
    if (wireType === 'varint') this.varint()
    else if (wireType === 'bytes') this.bytes()
    else this.#take(wireType === 'fixed64' ? 8 : 4)
  }

  /** A tag or a length; what is too large to be exact is too large to be either. */
  #unsigned(): number {
    return this.#small() ?? Number(this.varint())
  }

  /** A varint of at most four bytes, without a detour over bigint; undefined (and nothing read) for a longer one. */
  #small(): number | undefined {
    const bytes = this.#bytes
    let value = 0
    for (let length = 0; length < 4; length++) {
      const byte = bytes[this.#at + length]
      if (byte === undefined) return undefined
      value |= (byte & 0x7f) << (7 * length)
      if (byte < 0x80) {
        this.#at += length + 1
        return value
      }
    }
    return undefined
  }

  #take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw malformed('proto: unexpected end of the message')
    const view = this.#bytes.subarray(this.#at, this.#at + length)
    this.#at += length
    return view
  }
}
