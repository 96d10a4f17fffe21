/** Bytes of a TPM: big-endian numbers, and sized buffers (TPM2B) with two bytes of length. */
import { RollcallError } from '../../errors.ts'

export function uint8(value: number): Uint8Array {
  return Uint8Array.of(value)
}

export function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >>> 8, value & 0xff)
}

export function uint32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff)
}

/** TPM2B: at most 65535 bytes. */
export function sized(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = joined(...parts)
  return joined(uint16(bytes.length), bytes)
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

export const empty = sized()

/** Reads from the front; whatever is missing or left over is TPM_MALFORMED, never undefined. */
export class TpmReader {
  readonly #bytes: Uint8Array
  readonly #what: string
  #at = 0

  /** `what` is being read, for the error. */
  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes
    this.#what = what
  }

  take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw malformed(this.#what, 'ends too early')
    const start = this.#at
    this.#at += length
    return this.#bytes.slice(start, this.#at)
  }

  uint8(): number {
    return Number(this.take(1)[0])
  }

  uint16(): number {
    return Buffer.from(this.take(2)).readUInt16BE()
  }

  uint32(): number {
    return Buffer.from(this.take(4)).readUInt32BE()
  }

  sized(): Uint8Array {
    return this.take(this.uint16())
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at)
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw malformed(this.#what, 'has bytes left over')
  }
}

export function malformed(what: string, why: string): RollcallError {
  return new RollcallError('TPM_MALFORMED', `${what} ${why}; it is not what a TPM 2.0 gives.`, { what })
}
