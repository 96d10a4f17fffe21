import { contextTag, DerReader, tags } from './der.ts'
import { encode, encodeSequence } from './der-write.ts'
import { unmapped } from './ip.ts'
import { malformed } from './malformed.ts'
import type { NoteOddity } from './oddity.ts'
import { isAscii, latin1 } from './strings.ts'
import { isUriOfGo } from './uri.ts'

/** The names of a subjectAltName extension (RFC 5280 4.2.1.6), each list in order. */
export interface SubjectAltName {
  dnsNames: string[]
  /** 4 or 16 bytes each. */
  ipAddresses: Uint8Array[]
  emailAddresses: string[]
  uris: string[]
  /** Tag numbers of names Go does not show: 0 otherName, 3 x400Address, 4 directoryName, 5 ediPartyName, 8 registeredID. */
  others: number[]
}

const rfc822Name = contextTag(1, false)
const dNSName = contextTag(2, false)
const uniformResourceIdentifier = contextTag(6, false)
const iPAddress = contextTag(7, false)

export function emptySubjectAltName(): SubjectAltName {
  return { dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [], others: [] }
}

/** Whether there is any name of any kind. */
export function hasNames(san: SubjectAltName): boolean {
  const { dnsNames, ipAddresses, emailAddresses, uris, others } = san
  return dnsNames.length + ipAddresses.length + emailAddresses.length + uris.length + others.length > 0
}

/** Parses the value of a subjectAltName extension. Throws X509_MALFORMED for what Go refuses; notes the rest. */
export function parseSubjectAltName(value: Uint8Array, note?: NoteOddity): SubjectAltName {
  const outer = new DerReader(value, 'subjectAltName')
  const names = outer.enter(tags.sequence)
  if (!outer.atEnd) note?.('san-trailing-bytes')
  const san = emptySubjectAltName()
  while (!names.atEnd) readGeneralName(names, san, note)
  if (!hasNames(san)) note?.('san-empty')
  return san
}

function readGeneralName(reader: DerReader, san: SubjectAltName, note?: NoteOddity): void {
  const { tag, content, end } = reader.element()
  const bytes = reader.bytes.subarray(content, end)
  switch (tag) {
    case rfc822Name:
      san.emailAddresses.push(ia5(bytes, 'SAN rfc822Name', content, note))
      break
    case dNSName: {
      const name = ia5(bytes, 'SAN dNSName', content, note)
      if (!isDnsName(name) || name.startsWith('*')) note?.('dns-name-syntax', JSON.stringify(name))
      san.dnsNames.push(name)
      break
    }
    case uniformResourceIdentifier: {
      const uri = ia5(bytes, 'SAN uniformResourceIdentifier', content, note)
      if (!isUriOfGo(uri))
        throw malformed('SAN uniformResourceIdentifier', content, `cannot parse URI ${JSON.stringify(uri)}`)
      san.uris.push(uri)
      break
    }
    case iPAddress:
      if (bytes.length !== 4 && bytes.length !== 16) {
        throw malformed('SAN iPAddress', content, `${bytes.length} bytes, must be 4 or 16`)
      }
      san.ipAddresses.push(bytes)
      break
    default:
      note?.('san-other-name', `tag 0x${tag.toString(16)}`)
      san.others.push(tag & 0x1f)
  }
}

function ia5(bytes: Uint8Array, structure: string, offset: number, note?: NoteOddity): string {
  if (!isAscii(bytes)) throw malformed(structure, offset, 'not 7-bit ASCII')
  const text = latin1(bytes)
  if (hasControlCharacter(text)) note?.('control-character', `${structure} ${JSON.stringify(text)}`)
  return text
}

export function hasControlCharacter(text: string): boolean {
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text)
}

const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const dnsName = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`)

/** A DNS name a certificate may carry: LDH labels, at most 253 characters, `*` alone as the first label, no final dot. */
export function isDnsName(name: string): boolean {
  return name.length <= 253 && dnsName.test(name) && !/^[0-9.]+$/.test(name)
}

/**
 * The value of a subjectAltName extension in Go's order: DNS, e-mail, IP, URI; IPv4-mapped addresses as 4 bytes. Throws
 * RangeError, as Go does, on a name that is not ASCII and on an address of another length.
 */
export function encodeSubjectAltName(san: Partial<SubjectAltName>): Uint8Array {
  const text = (tag: number) => (name: string) => encode(tag, asciiBytes(name))
  return encodeSequence(
    ...(san.dnsNames ?? []).map(text(dNSName)),
    ...(san.emailAddresses ?? []).map(text(rfc822Name)),
    ...(san.ipAddresses ?? []).map(address => encode(iPAddress, addressBytes(address))),
    ...(san.uris ?? []).map(text(uniformResourceIdentifier)),
  )
}

function asciiBytes(name: string): Uint8Array {
  const bytes = Buffer.from(name, 'utf8')
  if (!isAscii(bytes)) throw new RangeError(`${JSON.stringify(name)} cannot be encoded as an IA5String`)
  return bytes
}

function addressBytes(address: Uint8Array): Uint8Array {
  if (address.length === 4 || address.length === 16) return unmapped(address)
  throw new RangeError(`an IP address has 4 or 16 bytes, not ${address.length}`)
}
