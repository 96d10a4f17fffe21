/** What the review kinds share: attributes of an access review, and that they carry no metadata. */
import type { KubeObject, SubjectAccessReview, UserInfo } from '../../kube/types.ts'
import type { Attributes } from '../access/access.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'

interface Requirement {
  key: string
  operator: string
  values?: string[]
}
interface Selector {
  rawSelector?: string
  requirements?: Requirement[]
}

type Spec = SubjectAccessReview['spec']
export type ResourceAttributes = NonNullable<Spec['resourceAttributes']> & { fieldSelector?: Selector }
export type AccessSpec = Pick<Spec, 'nonResourceAttributes'> & { resourceAttributes?: ResourceAttributes }

/** Reviews are questions, not objects: metadata must be empty, but for managed fields and, where they are named, a namespace. */
export function emptyMetadataErrors({ metadata }: KubeObject, ignored: readonly string[] = []): FieldError[] {
  const allowed = ['managedFields', 'creationTimestamp', ...ignored]
  const rest = Object.entries(metadata).filter(
    // An empty string is as good as absent: Go's zero value.
    ([key, value]) => value !== undefined && value !== '' && !allowed.includes(key),
  )
  return rest.length === 0 ? [] : [fieldError.invalid('metadata', Object.fromEntries(rest), 'must be empty')]
}

/** A body without spec asks nothing. */
export function accessSpecErrors({
  resourceAttributes,
  nonResourceAttributes,
}: AccessSpec = {}): FieldError[] {
  if (resourceAttributes && nonResourceAttributes) {
    const text = 'cannot be specified in combination with resourceAttributes'
    return [fieldError.invalid('spec.nonResourceAttributes', nonResourceAttributes, text)]
  }
  if (!resourceAttributes && !nonResourceAttributes) {
    const text = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
    return [fieldError.invalid('spec.resourceAttributes', null, text)]
  }
  return []
}

export function subjectErrors({ user, groups }: Spec = {}): FieldError[] {
  if (user || groups?.length) return []
  return [fieldError.invalid('spec.user', user ?? '', 'at least one of user or group must be specified')]
}

function fieldSelectorText(selector: Selector | undefined): string | undefined {
  if (selector?.rawSelector) return selector.rawSelector
  const terms = (selector?.requirements ?? []).flatMap(({ key, operator, values = [] }) => {
    if (values.length !== 1) return []
    if (operator === 'In') return [`${key}=${escapeValue(values[0] ?? '')}`]
    return operator === 'NotIn' ? [`${key}!=${escapeValue(values[0] ?? '')}`] : []
  })
  return terms.length > 0 ? terms.join(',') : undefined
}

const escapeValue = (value: string) => value.replace(/[\\,=]/g, '\\$&')

/** The question as the authorizer takes it. */
export function attributesOf(user: UserInfo, spec: AccessSpec): Attributes {
  const { resourceAttributes, nonResourceAttributes } = spec
  if (!resourceAttributes) {
    return { user, verb: nonResourceAttributes?.verb ?? '', path: nonResourceAttributes?.path ?? '' }
  }
  const { verb = '', group = '', version = '', resource = '', subresource = '' } = resourceAttributes
  const { namespace = '', name = '' } = resourceAttributes
  const fieldSelector = fieldSelectorText(resourceAttributes.fieldSelector)
  return {
    user,
    verb,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    ...(fieldSelector !== undefined && { fieldSelector }),
  }
}

/** The user that an access review asks about: exactly the groups it names. */
export function subjectOf({ user = '', uid, groups = [], extra }: Spec): UserInfo {
  return { username: user, groups, ...(uid && { uid }), ...(extra && { extra }) }
}
