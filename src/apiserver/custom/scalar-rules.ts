/** What a structural schema says of strings and numbers. */
import type { StructuralSchema } from '../../kube/rollcall/kind.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { wellKnownTypes } from '../wire/openapi/well-known.ts'

/** JSON's type of a value as the schema validator names it. */
export function typeNameOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value
}

/** `found` is the type of what is there, or a string that is not of the format. */
export function typeError(path: string, expected: string, found: string): FieldError {
  const why = `${path} in body must be of type ${expected}: ${JSON.stringify(found)}`
  return { ...fieldError.invalid(path, found, why), type: 'TypeInvalid' }
}

const formats: Readonly<Record<string, string>> = { 'date-time': 'Time', byte: 'bytes' }

export function stringErrors(schema: StructuralSchema, value: string, path: string): FieldError[] {
  const { minLength, maxLength, pattern, format } = schema
  // Characters, not UTF-16 units, as Go counts runes.
  const length = [...value].length
  const errors: FieldError[] = []
  if (maxLength !== undefined && length > maxLength) errors.push(fieldError.tooLong(path, maxLength))
  if (minLength !== undefined && length < minLength)
    errors.push(fieldError.invalid(path, value, `${path} in body should be at least ${minLength} chars long`))
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    errors.push(fieldError.invalid(path, value, `${path} in body should match '${pattern}'`))
  const type = format && formats[format]
  if (type && wellKnownTypes[type]?.complaint(value) !== undefined)
    errors.push(typeError(path, format, value))
  return errors
}

export function numberErrors(schema: StructuralSchema, value: number, path: string): FieldError[] {
  const { minimum, maximum, format } = schema
  const errors: FieldError[] = []
  if (format === 'int32' && wellKnownTypes.int?.complaint(value) !== undefined)
    errors.push(
      fieldError.invalid(path, value, `Checked value must be of type integer with format int32 in ${path}`),
    )
  if (maximum !== undefined && value > maximum)
    errors.push(fieldError.invalid(path, value, `${path} in body should be less than or equal to ${maximum}`))
  if (minimum !== undefined && value < minimum)
    errors.push(
      fieldError.invalid(path, value, `${path} in body should be greater than or equal to ${minimum}`),
    )
  return errors
}
