import { type DerReader, tags } from './der.ts'
import { encode } from './der-write.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const printable = /^[A-Za-z0-9 '()+,\-./:=?]*$/
/** Go's reader also lets `*` and `&` pass, which many certificates carry. */
const printableAsGoReads = /^[A-Za-z0-9 '()+,\-./:=?*&]*$/

/** Tags of the character string types that Go's X.509 parser turns into text. */
const stringTags: ReadonlySet<number> = new Set([
  tags.utf8String,
  tags.numericString,
  tags.printableString,
  tags.t61String,
  tags.ia5String,
  tags.bmpString,
])

export function isStringTag(tag: number): boolean {
  return stringTags.has(tag)
}

/** Text of the next element, which must be a character string whose bytes fit its type. */
export function readString(reader: DerReader): string {
  const { tag, content, end } = reader.element()
  const bytes = reader.bytes.subarray(content, end)
  const text = decodeString(tag, bytes)
  if (text === undefined) throw reader.fail(`invalid character in a ${typeName(tag)}`, content)
  return text
}

function decodeString(tag: number, bytes: Uint8Array): string | undefined {
  switch (tag) {
    case tags.utf8String:
      return decodeUtf8(bytes)
    case tags.printableString:
      return matching(latin1(bytes), printableAsGoReads)
    case tags.numericString:
      return matching(latin1(bytes), /^[0-9 ]*$/)
    case tags.ia5String:
      return isAscii(bytes) ? latin1(bytes) : undefined
    case tags.t61String: // Go reads the defunct T.61 as Latin-1.
      return latin1(bytes)
    case tags.bmpString:
      return decodeBmp(bytes)
    default:
      return undefined
  }
}

export function isAscii(bytes: Uint8Array): boolean {
  return bytes.every(byte => byte < 0x80)
}

/** One character a byte. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

/** A name's value as Go writes it: PrintableString where the alphabet allows, else UTF8String. */
export function encodeDirectoryString(text: string): Uint8Array {
  return encode(printable.test(text) ? tags.printableString : tags.utf8String, Buffer.from(text, 'utf8'))
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined // TextDecoder's only way to say that the bytes are not UTF-8
  }
}

/** UCS-2: no surrogates and no noncharacters; one terminating NUL is dropped, as in Go. */
function decodeBmp(bytes: Uint8Array): string | undefined {
  if (bytes.length % 2 !== 0) return undefined
  let text = ''
  for (let i = 0; i < bytes.length; i += 2) {
    const unit = ((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0)
    const reserved =
      unit >= 0xfffe || (unit >= 0xfdd0 && unit <= 0xfdef) || (unit >= 0xd800 && unit <= 0xdfff)
    if (reserved) return undefined
    text += String.fromCharCode(unit)
  }
  return text.endsWith('\0') ? text.slice(0, -1) : text
}

function matching(text: string, alphabet: RegExp): string | undefined {
  return alphabet.test(text) ? text : undefined
}

function typeName(tag: number): string {
  const found = Object.entries(tags).find(([, value]) => value === tag)
  return found === undefined ? `string of unsupported type 0x${tag.toString(16)}` : found[0]
}
