import { type DerReader, tags } from './der.ts'
import { encodeBoolean, encodeOctetString, encodeOid, encodeSequence } from './der-write.ts'
import type { NoteOddity } from './oddity.ts'

export interface Extension {
  /** Dotted object identifier. */
  id: string
  critical: boolean
  value: Uint8Array
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

export function encodeExtension({ id, critical, value }: Extension): Uint8Array {
  const flag = critical ? [encodeBoolean(true)] : []
  return encodeSequence(encodeOid(id), ...flag, encodeOctetString(value))
}

export function findExtension(extensions: readonly Extension[], id: string): Extension | undefined {
  return extensions.find(extension => extension.id === id)
}
