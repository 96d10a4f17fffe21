import { malformed } from './malformed.ts'
import { oidFromDer } from './oid.ts'

/** Identifier octets of the ASN.1 types X.509 uses. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const

/** Identifier octet of a context-specific tag, e.g. `[0]` constructed is 0xa0. */
export function contextTag(number: number, constructed: boolean): number {
  return (constructed ? 0xa0 : 0x80) | number
}

/** The same memory as a plain Uint8Array: views on a Buffer would be Buffers, which print and compare differently. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.constructor === Uint8Array) return bytes
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** One element: where it starts, where its content starts, and where it ends, in `DerReader.bytes`. */
export interface DerElement {
  tag: number
  start: number
  content: number
  end: number
}

/**
 * Reads strict DER from front to back: definite minimal lengths, low tag numbers, nothing outside the enclosing element.
 * Every method throws X509_MALFORMED naming `structure` and the offset. Results are views on the same memory.
 */
export class DerReader {
  readonly bytes: Uint8Array
  readonly structure: string
  readonly end: number
  #position: number

  constructor(bytes: Uint8Array, structure: string, start = 0, end = bytes.length) {
    this.bytes = bytes
    this.structure = structure
    this.#position = start
    this.end = end
  }

  get position(): number {
    return this.#position
  }

  get atEnd(): boolean {
    return this.#position >= this.end
  }

  fail(why: string, offset = this.#position): Error {
    return malformed(this.structure, offset, why)
  }

  /** The identifier octet that comes next, or -1 at the end. */
  peek(): number {
    return this.atEnd ? -1 : (this.bytes[this.#position] ?? -1)
  }

  /** The next element, whatever its tag. */
  element(): DerElement {
    const start = this.#position
    const tag = this.#byte(start)
    if ((tag & 0x1f) === 0x1f) throw this.fail('high tag numbers are not used in X.509')
    const first = this.#byte(start + 1)
    const content = first < 0x80 ? start + 2 : start + 2 + (first & 0x7f)
    const length = first < 0x80 ? first : this.#longLength(start, first & 0x7f)
    const end = content + length
    if (end > this.end) throw this.fail('truncated: the length goes beyond the enclosing structure', start)
    this.#position = end
    return { tag, start, content, end }
  }

  /** The next element, which must have this tag. */
  expect(tag: number, structure = this.structure): DerElement {
    if (this.peek() !== tag)
      throw malformed(structure, this.#position, `expected tag ${hexOctet(tag)}${this.#found()}`)
    return this.element()
  }

  /** A reader of the content of the next element, which must have this tag. */
  enter(tag: number, structure = this.structure): DerReader {
    const { content, end } = this.expect(tag, structure)
    return new DerReader(this.bytes, structure, content, end)
  }

  /** Content of the next element, which must have this tag. */
  content(tag: number, structure = this.structure): Uint8Array {
    const { content, end } = this.expect(tag, structure)
    return this.bytes.subarray(content, end)
  }

  /** The whole next element (identifier, length, content), which must have this tag. */
  raw(tag: number, structure = this.structure): Uint8Array {
    const { start, end } = this.expect(tag, structure)
    return this.bytes.subarray(start, end)
  }

  /** Dotted form of the next OBJECT IDENTIFIER. */
  oid(): string {
    const { content, end } = this.expect(tags.oid)
    const oid = oidFromDer(this.bytes.subarray(content, end))
    if (oid === undefined) throw this.fail('invalid OBJECT IDENTIFIER', content)
    return oid
  }

  /** X.690 boolean: exactly 0x00 or 0xff. */
  boolean(): boolean {
    const { content, end } = this.expect(tags.boolean)
    const value = this.bytes[content]
    if (end - content !== 1 || (value !== 0 && value !== 0xff)) throw this.fail('invalid boolean', content)
    return value === 0xff
  }

  /** Two's complement content octets of the next INTEGER, minimally encoded. */
  integer(structure = this.structure): Uint8Array {
    const { content, end } = this.expect(tags.integer, structure)
    const [first, second] = [this.bytes[content], this.bytes[content + 1]]
    if (first === undefined || content === end) throw malformed(structure, content, 'empty integer')
    if (end - content > 1 && second !== undefined) {
      const padded = (first === 0 && second < 0x80) || (first === 0xff && second >= 0x80)
      if (padded) throw malformed(structure, content, 'integer is not minimally encoded')
    }
    return this.bytes.subarray(content, end)
  }

  /** The next INTEGER as a number; refuses what does not fit in 48 bits. */
  smallInteger(structure = this.structure): number {
    const at = this.#position
    const content = this.integer(structure)
    if (content.length > 6) throw malformed(structure, at, 'integer is too large')
    return content.reduce((value, byte, i) => (i === 0 && byte >= 0x80 ? byte - 256 : value * 256 + byte), 0)
  }

  /** The next BIT STRING. Unused bits must be zero, as DER demands. */
  bitString(structure = this.structure): { bytes: Uint8Array; unusedBits: number } {
    const { content, end } = this.expect(tags.bitString, structure)
    const unusedBits = this.bytes[content] ?? 0
    const last = this.bytes[end - 1] ?? 0
    if (content === end) throw malformed(structure, content, 'empty bit string')
    if (unusedBits > 7 || (unusedBits > 0 && end - content === 1)) {
      throw malformed(structure, content, 'invalid padding of a bit string')
    }
    if (unusedBits > 0 && (last & ((1 << unusedBits) - 1)) !== 0) {
      throw malformed(structure, end - 1, 'padding bits of a bit string are not zero')
    }
    return { bytes: this.bytes.subarray(content + 1, end), unusedBits }
  }

  /** Throws when anything is left. */
  finish(): void {
    if (!this.atEnd) throw this.fail(`${this.end - this.#position} trailing bytes`)
  }

  #byte(at: number): number {
    const value = at < this.end ? this.bytes[at] : undefined
    if (value === undefined) throw this.fail('truncated', at)
    return value
  }

  #longLength(start: number, count: number): number {
    if (count === 0) throw this.fail('indefinite length (not DER)', start)
    if (count > 4) throw this.fail('length is too large', start)
    let length = 0
    for (let i = 0; i < count; i++) length = length * 256 + this.#byte(start + 2 + i)
    const minimal = this.#byte(start + 2) !== 0 && length >= 0x80
    if (!minimal) throw this.fail('length is not minimally encoded', start)
    return length
  }

  #found(): string {
    return this.atEnd ? ', found the end' : `, found ${hexOctet(this.peek())}`
  }
}

function hexOctet(octet: number): string {
  return `0x${octet.toString(16).padStart(2, '0')}`
}
