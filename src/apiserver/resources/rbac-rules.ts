/** Validation of policy rules, role references and subjects (pkg/apis/rbac/validation). */
import { sameJson } from '../../kube/json.ts'
import type { PolicyRule, RbacSubject, RoleBinding } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { dns1123Subdomain, pathSegment } from './names.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

export function validateRules(rules: readonly PolicyRule[] = [], namespaced: boolean): FieldError[] {
  return rules.flatMap((rule, index) => validateRule(rule, namespaced, `rules[${index}]`))
}

function validateRule(rule: PolicyRule, namespaced: boolean, field: string): FieldError[] {
  const errors: FieldError[] = []
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  if (verbs.length === 0)
    errors.push(fieldError.required(`${field}.verbs`, 'verbs must contain at least one value'))
  if (nonResourceURLs.length > 0) {
    const refuse = (why: string) =>
      errors.push(fieldError.invalid(`${field}.nonResourceURLs`, nonResourceURLs, why))
    if (namespaced) refuse('namespaced rules cannot apply to non-resource URLs')
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      refuse('rules cannot apply to both regular resources and non-resource URLs')
    }
    return errors
  }
  if (apiGroups.length === 0) {
    errors.push(
      fieldError.required(`${field}.apiGroups`, 'resource rules must supply at least one api group'),
    )
  }
  if (resources.length === 0) {
    errors.push(fieldError.required(`${field}.resources`, 'resource rules must supply at least one resource'))
  }
  return errors
}

/** Fills in the API groups that Kubernetes defaults. */
export function defaultBinding(binding: RoleBinding): void {
  const roleRef = binding.roleRef ?? { apiGroup: '', kind: '', name: '' }
  binding.roleRef = { ...roleRef, apiGroup: roleRef.apiGroup || rbacGroup }
  for (const subject of binding.subjects ?? []) {
    if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= rbacGroup
  }
}

export function validateBinding(binding: RoleBinding, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = []
  const { apiGroup = '', kind = '', name = '' } = binding.roleRef ?? {}
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  if (apiGroup !== rbacGroup) errors.push(fieldError.notSupported('roleRef.apiGroup', apiGroup, [rbacGroup]))
  if (!kinds.includes(kind)) errors.push(fieldError.notSupported('roleRef.kind', kind, kinds))
  if (name === '') errors.push(fieldError.required('roleRef.name'))
  for (const text of pathSegment(name)) errors.push(fieldError.invalid('roleRef.name', name, text))
  binding.subjects?.forEach((subject, index) => {
    errors.push(...validateSubject(subject, namespaced, `subjects[${index}]`))
  })
  return errors
}

function validateSubject(subject: RbacSubject, namespaced: boolean, field: string): FieldError[] {
  const errors: FieldError[] = []
  const { kind, name = '', apiGroup = '' } = subject
  const requireGroup = (wanted: string) => {
    if (apiGroup !== wanted) errors.push(fieldError.notSupported(`${field}.apiGroup`, apiGroup, [wanted]))
  }
  if (name === '') errors.push(fieldError.required(`${field}.name`))
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') {
        for (const text of dns1123Subdomain(name))
          errors.push(fieldError.invalid(`${field}.name`, name, text))
      }
      requireGroup('')
      if (!namespaced && !subject.namespace) errors.push(fieldError.required(`${field}.namespace`))
      break
    case 'User':
    case 'Group':
      requireGroup(rbacGroup)
      break
    default:
      errors.push(fieldError.notSupported(`${field}.kind`, kind ?? '', ['ServiceAccount', 'User', 'Group']))
  }
  return errors
}

export function validateBindingUpdate(
  next: RoleBinding,
  previous: RoleBinding,
  namespaced: boolean,
): FieldError[] {
  const errors = validateBinding(next, namespaced)
  const { apiGroup, kind, name } = next.roleRef ?? {}
  if (!sameJson({ apiGroup, kind, name }, { ...previous.roleRef })) {
    errors.push(fieldError.invalid('roleRef', next.roleRef, 'cannot change roleRef'))
  }
  return errors
}
