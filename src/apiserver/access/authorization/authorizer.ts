import { hasCode } from '../../../errors.ts'
import { parseFieldSelector, requiredValue } from '../../../kube/selectors.ts'
import type { PolicyRule, UserInfo } from '../../../kube/types.ts'
import type { ObjectReader } from '../../reader.ts'
import type { Access, Attributes, Decision } from '../access.ts'
import { systemGroups } from '../system-identities.ts'
import { authorizeNode } from './node-authorizer.ts'
import type { NodeGraph } from './node-graph.ts'
import { nodeIdentity } from './node-identity.ts'
import { aggregate, authorizeByRbac, cachedRbacIndex, rbacRulesFor } from './rbac-authorizer.ts'

export interface Authorizer {
  authorize(attributes: Attributes): Decision
  rulesFor: Access['rulesFor']
  /** RBAC rules alone, for the escalation checks. */
  rbacRulesFor(user: UserInfo, namespace: string): { rules: PolicyRule[]; errors: string[] }
}

/** A list or watch of exactly one name asks for that object, so resourceNames and own-object rules apply to it. */
export function withSelectedName(attributes: Attributes): Attributes {
  const { verb, name, fieldSelector } = attributes
  if (name || !fieldSelector || !['list', 'watch', 'deletecollection'].includes(verb)) return attributes
  try {
    const selected = requiredValue(parseFieldSelector(fieldSelector), 'metadata.name')
    return selected ? { ...attributes, name: selected } : attributes
  } catch (error) {
    // An unreadable selector names nothing; the request itself is answered 400 for it.
    if (hasCode(error, 'SELECTOR_INVALID')) return attributes
    throw error
  }
}

/** system:masters, then the Node authorizer, then RBAC; the first that allows decides. */
export function createAuthorizer(reader: ObjectReader, graph: NodeGraph): Authorizer {
  const index = cachedRbacIndex(reader)
  return {
    authorize(attributes) {
      if (attributes.user.groups.includes(systemGroups.masters)) return { allowed: true, reason: '' }
      const named = withSelectedName(attributes)
      const byNode = authorizeNode(named, graph)
      if (byNode.allowed) return byNode
      const byRbac = authorizeByRbac(index(), named)
      if (byRbac.allowed) return byRbac
      return { allowed: false, reason: [byNode.reason, byRbac.reason].filter(Boolean).join('\n') }
    },

    rbacRulesFor: (user, namespace) => rbacRulesFor(index(), user, namespace),

    rulesFor(user, namespace) {
      const { rules, errors } = rbacRulesFor(index(), user, namespace)
      // A node's rights depend on objects and cannot be listed.
      const isNode = nodeIdentity(user) !== undefined
      if (isNode) errors.unshift('node authorizer does not support user rule resolution')
      return {
        resourceRules: rules.flatMap(({ verbs, apiGroups = [], resources = [], resourceNames = [] }) =>
          resources.length === 0
            ? []
            : [{ verbs, apiGroups, resources, ...(resourceNames.length > 0 && { resourceNames }) }],
        ),
        nonResourceRules: rules.flatMap(({ verbs, nonResourceURLs = [] }) =>
          nonResourceURLs.length === 0 ? [] : [{ verbs, nonResourceURLs }],
        ),
        incomplete: isNode,
        ...(errors.length > 0 && { evaluationError: aggregate(errors) }),
      }
    },
  }
}
