/** Query parameters that every write has: dryRun and fieldValidation. */
import type { KubeObject } from '../kube/types.ts'
import type { CheckedKind, SchemaChecks } from './schema-checks.ts'
import { apiError } from './wire/api-error.ts'
import { fieldError } from './wire/field-error.ts'

/** Whether all is to be done but the write. Throws ApiError 422. */
export function isDryRun(query: URLSearchParams, optionsKind: string): boolean {
  const values = query.getAll('dryRun').filter(value => value !== '')
  if (values.some(value => value !== 'All'))
    throw apiError.invalid({ group: 'meta.k8s.io', plural: '', kind: optionsKind }, '', [
      fieldError.notSupported('dryRun', values, ['All']),
    ])
  return values.length > 0
}

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

/** `Warn` where the client does not say. Throws ApiError 422. */
export function fieldValidationOf(query: URLSearchParams, optionsKind: string): FieldValidation {
  const value = query.get('fieldValidation') || 'Warn'
  if (value === 'Strict' || value === 'Warn' || value === 'Ignore') return value
  throw apiError.invalid({ group: 'meta.k8s.io', plural: '', kind: optionsKind }, '', [
    fieldError.notSupported('fieldValidation', value, ['Ignore', 'Strict', 'Warn']),
  ])
}

/** A body of nothing but unknown fields is told the first ones; all of them would make an answer as large as the body. */
const MOST_COMPLAINTS = 100

/**
 * Holds an object against its kind's schema. Throws `refuse(text)` for values of the wrong type; unknown and repeated
 * fields are refused, returned as warnings or passed over as the client asks, and unknown ones dropped, as are empty ones.
 * `typed`: the compiler has done all that.
 */
export function checkFields(
  schemas: SchemaChecks,
  validation: FieldValidation,
  resource: CheckedKind,
  {
    object,
    duplicates,
    typed,
  }: { object: KubeObject; duplicates: readonly string[]; typed?: true | undefined },
  refuse: (text: string) => Error,
): string[] {
  if (typed) {
    schemas.dropEmptyFields(resource, object)
    return []
  }
  if (duplicates.length === 0 && schemas.fits?.(resource, object)) return []
  const wrong = schemas.wrongType(resource, object)
  if (wrong !== undefined) throw refuse(wrong)
  const unknown = schemas.unknownFields(resource, object)
  const complaints = [
    ...unknown.slice(0, MOST_COMPLAINTS).map(field => `unknown field "${field}"`),
    ...duplicates.slice(0, MOST_COMPLAINTS).map(field => `duplicate field "${field}"`),
  ].slice(0, MOST_COMPLAINTS)
  if (validation === 'Strict' && complaints.length > 0)
    throw refuse(`strict decoding error: ${complaints.join(', ')}`)
  if (unknown.length > 0) schemas.dropUnknownFields(resource, object)
  schemas.dropEmptyFields(resource, object)
  return validation === 'Ignore' ? [] : complaints
}

/** Kubernetes' bounds: when all texts together have more characters, each is cut, and what is still too much left out. */
const MOST_WARNING_CHARACTERS = 4096
const LONGEST_CUT_WARNING = 256

/**
 * The value of a Warning header; the agent is unknown, as in Kubernetes. A text with control characters is left out. Other
 * characters go as the bytes of their UTF-8, one character each, as Node.js writes headers. Empty: nothing to say.
 */
export function warningHeader(texts: readonly string[]): string {
  const total = texts.reduce((sum, text) => sum + text.length, 0)
  const values: string[] = []
  let left = MOST_WARNING_CHARACTERS
  for (const text of texts) {
    if (/\p{Cc}/u.test(text)) continue
    const shown = total > MOST_WARNING_CHARACTERS ? text.slice(0, LONGEST_CUT_WARNING) : text
    left -= shown.length
    if (left < 0) break
    values.push(`299 - "${shown.replaceAll(/["\\]/g, '\\$&')}"`)
  }
  return Buffer.from(values.join(', ')).toString('latin1')
}
