/** What ConfigMaps and Secrets share: keys, total size, and the immutable flag. */
import { sameJson } from '../../kube/json.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'

/** Bytes of all values of one object. */
export const maximumDataBytes = 1024 * 1024

/** IsConfigMapKey: complaints about a key of `data`. */
export function dataKeyComplaints(key: string): string[] {
  const complaints: string[] = []
  if (key.length > 253) complaints.push('must be no more than 253 bytes')
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    complaints.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  " +
        "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    )
  }
  if (key === '.' || key === '..') complaints.push(`must not be '${key}'`)
  else if (key.startsWith('..')) complaints.push("must not start with '..'")
  return complaints
}

/** Decoded length of base64 without decoding it. */
export function base64Bytes(text: string): number {
  return Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)
}

/** Once `immutable` is true, neither it nor any of `fields` can change. */
export function immutableErrors<T extends { immutable?: boolean }>(
  next: T,
  previous: T,
  fields: readonly (keyof T & string)[],
): FieldError[] {
  if (!previous.immutable) return []
  const errors: FieldError[] = []
  const text = 'field is immutable when `immutable` is set'
  if (!next.immutable) errors.push(fieldError.forbidden('immutable', text))
  for (const field of fields) {
    const [before, after] = [previous[field] ?? {}, next[field] ?? {}]
    if (!sameJson(before, after)) errors.push(fieldError.forbidden(field, text))
  }
  return errors
}
