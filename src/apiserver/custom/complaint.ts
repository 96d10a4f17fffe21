import type { FieldError } from '../wire/field-error.ts'

const types: readonly [prefix: string, type: FieldError['type']][] = [
  ['Required value', 'Required'],
  ['Unsupported value', 'NotSupported'],
  ['Duplicate value', 'Duplicate'],
  ['Forbidden', 'Forbidden'],
  ['Too long', 'TooLong'],
  ['Too many', 'TooMany'],
  ['Not found', 'NotFound'],
]

/** `spec.a: Duplicate value: "x"` in its parts. */
export function fieldErrorOf(complaint: string): FieldError {
  const colon = complaint.indexOf(': ')
  const field = colon < 0 ? 'spec' : complaint.slice(0, colon)
  const text = colon < 0 ? complaint : complaint.slice(colon + 2)
  const type = types.find(([prefix]) => text.startsWith(prefix))?.[1] ?? 'Invalid'
  return { type, field, text }
}
