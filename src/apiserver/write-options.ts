/** Query parameters that every write has: dryRun and fieldValidation. */
import type { KubeObject } from '../kube/types.ts'
import type { Resource } from './resources/resource.ts'
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

/** Until the schemas are there nothing is unknown. */
const unknownFields = (_resource: Resource, _object: KubeObject): string[] => []

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

/** `Warn` where the client does not say. Throws ApiError 422. */
export function fieldValidationOf(query: URLSearchParams, optionsKind: string): FieldValidation {
  const value = query.get('fieldValidation') || 'Warn'
  if (value === 'Strict' || value === 'Warn' || value === 'Ignore') return value
  throw apiError.invalid({ group: 'meta.k8s.io', plural: '', kind: optionsKind }, '', [
    fieldError.notSupported('fieldValidation', value, ['Ignore', 'Strict', 'Warn']),
  ])
}

/** What the resource's schema does not know of an object, and what its text names twice. */
function fieldComplaints(resource: Resource, object: KubeObject, duplicates: readonly string[]): string[] {
  return [
    ...unknownFields(resource, object).map(field => `unknown field "${field}"`),
    ...duplicates.map(field => `duplicate field "${field}"`),
  ]
}

/** Refuses complaints about fields by throwing `refuse(text)`, gives them as warnings, or drops them, as the client asks. */
export function fieldWarnings(
  validation: FieldValidation,
  resource: Resource,
  { object, duplicates }: { object: KubeObject; duplicates: readonly string[] },
  refuse: (text: string) => Error,
): string[] {
  if (validation === 'Ignore') return []
  const complaints = fieldComplaints(resource, object, duplicates)
  if (validation === 'Strict' && complaints.length > 0)
    throw refuse(`strict decoding error: ${complaints.join(', ')}`)
  return complaints
}

/** The value of a Warning header; the agent is unknown, as in Kubernetes. */
export function warningHeader(texts: readonly string[]): string {
  return texts.map(text => `299 - ${JSON.stringify(text)}`).join(', ')
}
