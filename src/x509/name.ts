import { DerReader, plainBytes, tags } from './der.ts'
import { encodeOid, encodeSequence, encodeSetOf } from './der-write.ts'
import type { NoteOddity } from './oddity.ts'
import { oids } from './oid.ts'
import { encodeDirectoryString, isStringTag, readString } from './strings.ts'

export interface NameAttribute {
  /** Dotted object identifier. */
  type: string
  value: string
}

/** A distinguished name. `raw` is what signatures and chains go by; copy it, never re-encode it. */
export interface Name {
  raw: Uint8Array
  rdns: readonly (readonly NameAttribute[])[]
}

/** Parses a Name on its own. Throws X509_MALFORMED. */
export function parseName(der: Uint8Array): Name {
  const reader = new DerReader(plainBytes(der), 'name')
  const name = readName(reader, 'name')
  reader.finish()
  return name
}

/**
 * Reads the next element as a Name. With `note` it goes by Go's rules for requests: attributes that are not strings are
 * left out and noted. Without, by those for certificates: they are refused.
 */
export function readName(reader: DerReader, structure: string, note?: NoteOddity): Name {
  const { start, content, end } = reader.expect(tags.sequence, structure)
  const sets = new DerReader(reader.bytes, structure, content, end)
  const rdns: NameAttribute[][] = []
  while (!sets.atEnd) {
    const set = sets.enter(tags.set)
    const rdn: NameAttribute[] = []
    while (!set.atEnd) {
      const attribute = readAttribute(set.enter(tags.sequence), note)
      if (attribute !== undefined) rdn.push(attribute)
    }
    rdns.push(rdn)
  }
  return { raw: reader.bytes.subarray(start, end), rdns }
}

function readAttribute(reader: DerReader, note?: NoteOddity): NameAttribute | undefined {
  const type = reader.oid()
  const tag = reader.peek()
  if (note !== undefined && tag >= 0 && !isStringTag(tag)) {
    checkValue(reader)
    note('attribute-not-a-string', `${reader.structure} attribute ${type}`)
    return undefined
  }
  const value = readString(reader)
  if (note !== undefined && !reader.atEnd) note('trailing-elements', `${reader.structure} attribute ${type}`)
  else reader.finish()
  if (tag !== tags.utf8String && tag !== tags.printableString)
    note?.('string-type', `${reader.structure} ${type}`)
  return { type, value }
}

/** Values Go decodes although it has no use for them in a name: their encoding must hold. */
function checkValue(reader: DerReader): void {
  const tag = reader.peek()
  if (tag === tags.integer) reader.integer()
  else if (tag === tags.oid) reader.oid()
  else if (tag === tags.bitString) reader.bitString()
  else if (tag === tags.utcTime || tag === tags.generalizedTime) throw reader.fail('a time is not a name')
  else reader.element()
}

/** A name in DER; attributes of one RDN become one SET, sorted. */
export function encodeName(rdns: readonly (readonly NameAttribute[])[]): Uint8Array {
  return encodeSequence(
    ...rdns.map(rdn =>
      encodeSetOf(
        rdn.map(({ type, value }) => encodeSequence(encodeOid(type), encodeDirectoryString(value))),
      ),
    ),
  )
}

/** The subject of a Kubernetes identity as client-go encodes it: all organizations in one SET, then the common name. */
export function nameOf(of: { commonName: string; organizations?: readonly string[] }): Name {
  const organizations = (of.organizations ?? []).map(value => ({ type: oids.organization, value }))
  const rdns = [organizations, [{ type: oids.commonName, value: of.commonName }]].filter(
    rdn => rdn.length > 0,
  )
  return parseName(encodeName(rdns))
}

/** All values of one attribute type, flat, in order. */
export function attributeValues(name: Name, type: string): string[] {
  const values: string[] = []
  for (const rdn of name.rdns)
    for (const attribute of rdn) if (attribute.type === type) values.push(attribute.value)
  return values
}

/** Every common name, in order. Go and Kubernetes use the last; a request with two has an oddity. */
export function commonNames(name: Name): string[] {
  return attributeValues(name, oids.commonName)
}

export function organizations(name: Name): string[] {
  return attributeValues(name, oids.organization)
}

/** The common name as Go reads it: the last one, or '' where there is none. */
export function commonName(name: Name): string {
  return commonNames(name).at(-1) ?? ''
}

/** Attribute types Go has a field for, in the order it writes them (C-36), with their RFC 2253 short names. */
export const knownAttributes: readonly { type: string; short: string }[] = [
  { type: oids.country, short: 'C' },
  { type: oids.organization, short: 'O' },
  { type: oids.organizationalUnit, short: 'OU' },
  { type: oids.locality, short: 'L' },
  { type: oids.province, short: 'ST' },
  { type: oids.streetAddress, short: 'STREET' },
  { type: oids.postalCode, short: 'POSTALCODE' },
  { type: oids.commonName, short: 'CN' },
  { type: oids.serialNumber, short: 'SERIALNUMBER' },
]

const singleValued: ReadonlySet<string> = new Set([oids.commonName, oids.serialNumber])

/**
 * The RDNs that Go's pkix.Name keeps of a name, in its order: one RDN an attribute type, several values in it; of common
 * name and serial number the last; types it does not know are dropped (C-36).
 */
export function rebuiltRdns(name: Name): NameAttribute[][] {
  return knownAttributes.flatMap(({ type }) => {
    const all = attributeValues(name, type)
    const values = singleValued.has(type) ? all.slice(-1).filter(value => value !== '') : all
    return values.length === 0 ? [] : [values.map(value => ({ type, value }))]
  })
}

/** A name in the form of Go's pkix.Name.String, e.g. `CN=system:node:a,O=system:nodes`. For people and logs only. */
export function formatName(name: Name): string {
  const unknown = name.rdns.flat().filter(attribute => shortName(attribute.type) === undefined)
  const rdns = [...unknown.map(attribute => [attribute]), ...rebuiltRdns(name)]
  return rdns
    .toReversed()
    .map(rdn => rdn.map(formatAttribute).join('+'))
    .join(',')
}

function formatAttribute({ type, value }: NameAttribute): string {
  const short = shortName(type)
  if (short === undefined) return `${type}=#${Buffer.from(encodeDirectoryString(value)).toString('hex')}`
  const characters = [...value]
  const escaped = characters.map((character, i) => {
    const special = ',+"\\<>;'.includes(character)
    const edge = character === ' ' && (i === 0 || i === characters.length - 1)
    return special || edge || (character === '#' && i === 0) ? `\\${character}` : character
  })
  return `${short}=${escaped.join('')}`
}

function shortName(type: string): string | undefined {
  return knownAttributes.find(known => known.type === type)?.short
}
