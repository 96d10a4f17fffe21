/** What a deletion does to what the object owns: the options of DELETE, and the finalizers that stand for them. */
import type { ObjectMeta } from '../kube/types.ts'
import type { StoredResource } from './resources/resource.ts'
import { apiError } from './wire/api-error.ts'
import { type FieldError, fieldError } from './wire/field-error.ts'

/** Removed once no dependent refers to the object any more. */
export const orphanFinalizer = 'orphan'
/** Removed once no dependent is left that blocks the object's deletion. */
export const foregroundFinalizer = 'foregroundDeletion'

const policies = ['Foreground', 'Background', 'Orphan'] as const
export type Propagation = (typeof policies)[number]

const isPolicy = (value: unknown): value is Propagation => policies.some(policy => policy === value)

/** Absent: the client leaves it to the object's finalizers, else Background. Throws ApiError 422. */
export function propagationOf(
  propagationPolicy: unknown,
  orphanDependents: unknown,
): Propagation | undefined {
  const errors: FieldError[] = []
  const given = propagationPolicy !== undefined && propagationPolicy !== null && propagationPolicy !== ''
  if (given && typeof orphanDependents === 'boolean')
    errors.push(
      fieldError.invalid(
        'propagationPolicy',
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    )
  if (given && !isPolicy(propagationPolicy))
    errors.push(fieldError.notSupported('propagationPolicy', propagationPolicy, [...policies, 'nil']))
  if (errors.length > 0)
    throw apiError.invalid({ group: 'meta.k8s.io', plural: '', kind: 'DeleteOptions' }, '', errors)
  if (isPolicy(propagationPolicy)) return propagationPolicy
  return typeof orphanDependents === 'boolean' ? (orphanDependents ? 'Orphan' : 'Background') : undefined
}

/** The finalizers that the object is to be deleted with. Events own nothing. */
export function finalizersToDelete(
  resource: Pick<StoredResource, 'timeToLiveSeconds'>,
  { finalizers = [] }: ObjectMeta,
  propagation: Propagation | undefined,
): string[] {
  if (!propagation && resource.timeToLiveSeconds === undefined) return finalizers
  const others = finalizers.filter(one => one !== orphanFinalizer && one !== foregroundFinalizer)
  if (resource.timeToLiveSeconds !== undefined || propagation === 'Background') return others
  return [...others, propagation === 'Orphan' ? orphanFinalizer : foregroundFinalizer]
}
