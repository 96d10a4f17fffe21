/** What metadata must look like, in the words of apimachinery's ValidateObjectMeta. */
import { labelValueComplaints, qualifiedNameComplaints } from '../kube/label-syntax.ts'
import type { KubeObject, ObjectMeta } from '../kube/types.ts'
import type { StoredResource } from './resources/resource.ts'
import { type FieldError, fieldError } from './wire/field-error.ts'

/** Bytes of all keys and values together. */
const ANNOTATION_BYTES = 256 * 1024

const standardFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion']

export function metadataErrors(resource: StoredResource, meta: ObjectMeta): FieldError[] {
  return [
    ...nameErrors(resource, meta),
    ...labelErrors(meta.labels ?? {}),
    ...annotationErrors(meta.annotations ?? {}),
    ...ownerErrors(meta),
    ...finalizerErrors(meta.finalizers ?? []),
  ]
}

function nameErrors(resource: StoredResource, meta: ObjectMeta): FieldError[] {
  if (!meta.name) return [fieldError.required('metadata.name', 'name or generateName is required')]
  const errors = resource
    .validateName(meta.name)
    .map(complaint => fieldError.invalid('metadata.name', meta.name, complaint))
  if (!resource.namespaced && meta.namespace)
    errors.push(fieldError.forbidden('metadata.namespace', 'not allowed on this type'))
  return errors
}

function labelErrors(labels: Record<string, string>): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameComplaints(key).map(text => fieldError.invalid('metadata.labels', key, text)),
    ...labelValueComplaints(value).map(text => fieldError.invalid('metadata.labels', value, text)),
  ])
}

function annotationErrors(annotations: Record<string, string>): FieldError[] {
  let bytes = 0
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(annotations)) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value)
    for (const text of qualifiedNameComplaints(key.toLowerCase()))
      errors.push(fieldError.invalid('metadata.annotations', key, text))
  }
  if (bytes > ANNOTATION_BYTES) errors.push(fieldError.tooLong('metadata.annotations', ANNOTATION_BYTES))
  return errors
}

function ownerErrors(meta: ObjectMeta): FieldError[] {
  const errors: FieldError[] = []
  const owners = meta.ownerReferences ?? []
  for (const owner of owners) {
    const required = [
      ['apiVersion', 'version'],
      ['kind', 'kind'],
      ['name', 'name'],
      ['uid', 'uid'],
    ] as const
    for (const [field, word] of required) {
      if (!owner[field])
        errors.push(
          fieldError.invalid(
            `metadata.ownerReferences.${field}`,
            owner[field] ?? '',
            `${word} must not be empty`,
          ),
        )
    }
  }
  if (owners.filter(owner => owner.controller).length > 1)
    errors.push(
      fieldError.invalid(
        'metadata.ownerReferences',
        owners,
        'Only one reference can have Controller set to true.',
      ),
    )
  return errors
}

function finalizerErrors(finalizers: readonly string[]): FieldError[] {
  return finalizers.flatMap(finalizer => {
    const complaints = qualifiedNameComplaints(finalizer)
    if (complaints.length === 0 && !finalizer.includes('/') && !standardFinalizers.includes(finalizer))
      complaints.push('name is neither a standard finalizer name nor is it fully qualified')
    return complaints.map(text => fieldError.invalid('metadata.finalizers', finalizer, text))
  })
}

/** What an update may not do to metadata. */
export function metadataUpdateErrors(next: KubeObject, previous: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  for (const field of ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const) {
    if ((next.metadata[field] ?? '') !== (previous.metadata[field] ?? ''))
      errors.push(fieldError.invalid(`metadata.${field}`, next.metadata[field] ?? '', 'field is immutable'))
  }
  if (previous.metadata.deletionTimestamp) {
    const added = (next.metadata.finalizers ?? []).filter(
      finalizer => !previous.metadata.finalizers?.includes(finalizer),
    )
    if (added.length > 0)
      errors.push(
        fieldError.forbidden(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added
            .map(finalizer => JSON.stringify(finalizer))
            .join(', ')}}`,
        ),
      )
  }
  return errors
}
