import { type DerReader, tags } from './der.ts'
import { encodeBoolean, encodeOctetString, encodeOid, encodeSequence } from './der-write.ts'
import type { NoteOddity } from './oddity.ts'

export interface Extension {
  /** Dotted object identifier. */
  readonly id: string
  readonly critical: boolean
  readonly value: Uint8Array
}

/** Reads the next element as one Extension. With `note`, elements after the standard ones are noted, not refused. */
export function readExtension(reader: DerReader, note?: NoteOddity): Extension {
  const inside = reader.enter(tags.sequence, 'extension')
  const id = inside.oid()
  const critical = inside.peek() === tags.boolean ? inside.boolean() : false
  const value = inside.content(tags.octetString, `extension ${id}`)
  if (note !== undefined && !inside.atEnd) note('trailing-elements', `extension ${id}`)
  else inside.finish()
  return { id, critical, value }
}

const criticalFlag = encodeBoolean(true)

export function encodeExtension({ id, critical, value }: Extension): Uint8Array {
  const content = encodeOctetString(value)
  return critical
    ? encodeSequence(encodeOid(id), criticalFlag, content)
    : encodeSequence(encodeOid(id), content)
}

const encoded = new WeakMap<Extension, Uint8Array>()

/** The same extension, whose encoding is kept as long as it: for what all leaves of a CA have in common. */
export function sharedExtension(extension: Extension): Extension {
  encoded.set(extension, encodeExtension(extension))
  return extension
}

/** The encoding of several, one after the other. */
export function encodedExtensions(extensions: readonly Extension[]): Uint8Array[] {
  return extensions.map(extension => encoded.get(extension) ?? encodeExtension(extension))
}

export function findExtension(extensions: readonly Extension[], id: string): Extension | undefined {
  return extensions.find(extension => extension.id === id)
}
