import type { ClusterRole, ObjectMeta, RbacSubject, RoleBinding } from '../../../kube/types.ts'
import { compactRules, uncovered } from '../admission/rule-covers.ts'
import { semanticallyEqual } from '../admission/semantically-equal.ts'
import { autoupdateAnnotation, type PolicyObject } from './policy-objects.ts'

export type PolicyWrite =
  | { operation: 'create' | 'update'; object: PolicyObject }
  /** A binding's roleRef cannot be changed: delete it, then create this. */
  | { operation: 'recreate'; object: PolicyObject }

const keyOf = ({ kind, metadata }: PolicyObject) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`

/**
 * What to write so that `existing` grants at least what `expected` does: missing objects, rules, subjects, labels and
 * annotations are added; what an operator added or changed stays, and so does everything marked autoupdate=false.
 */
export function completingWrites(
  existing: readonly PolicyObject[],
  expected: readonly PolicyObject[],
): PolicyWrite[] {
  const stored = new Map(existing.map(object => [keyOf(object), object]))
  return expected.flatMap((object): PolicyWrite[] => {
    const current = stored.get(keyOf(object))
    if (!current) return [{ operation: 'create', object }]
    if (current.metadata.annotations?.[autoupdateAnnotation] === 'false') return []
    if (isBinding(object) && isBinding(current) && !sameRole(object, current)) {
      return [{ operation: 'recreate', object: withSubjects(object, current) }]
    }
    const next = complete(current, object)
    return semanticallyEqual(next, current) ? [] : [{ operation: 'update', object: next }]
  })
}

function isBinding(object: PolicyObject): object is RoleBinding {
  return 'roleRef' in object
}

const sameRole = (a: RoleBinding, b: RoleBinding) => semanticallyEqual(a.roleRef, b.roleRef)

/** `current` with all that `expected` has and it lacks; where both say something, `current` wins. */
function complete(current: PolicyObject, expected: PolicyObject): PolicyObject {
  const metadata = completeMetadata(current.metadata, expected.metadata)
  if (isBinding(current)) {
    return isBinding(expected) ? { ...withSubjects(current, expected), metadata } : current
  }
  return isBinding(expected) ? current : { ...withRules(current, expected), metadata }
}

function completeMetadata(current: ObjectMeta, expected: ObjectMeta): ObjectMeta {
  return {
    ...current,
    labels: { ...expected.labels, ...current.labels },
    annotations: { ...expected.annotations, ...current.annotations },
  }
}

/** Same subject, whether or not the API group was filled in. */
const sameSubject = (a: RbacSubject, b: RbacSubject) =>
  a.kind === b.kind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '')

function withSubjects(binding: RoleBinding, other: RoleBinding): RoleBinding {
  const subjects = binding.subjects ?? []
  const missing = (other.subjects ?? []).filter(subject => !subjects.some(own => sameSubject(own, subject)))
  return missing.length === 0 ? binding : { ...binding, subjects: [...subjects, ...missing] }
}

function withRules(current: ClusterRole, expected: ClusterRole): ClusterRole {
  const selectors = current.aggregationRule?.clusterRoleSelectors ?? []
  const missingSelectors = (expected.aggregationRule?.clusterRoleSelectors ?? []).filter(
    selector => !selectors.some(own => semanticallyEqual(own, selector)),
  )
  if (missingSelectors.length > 0) {
    return { ...current, aggregationRule: { clusterRoleSelectors: [...selectors, ...missingSelectors] } }
  }
  const missing = compactRules(uncovered(current.rules ?? [], expected.rules ?? []))
  return missing.length === 0 ? current : { ...current, rules: [...(current.rules ?? []), ...missing] }
}
