/** The Node authorizer: a node may read and write what is its own. What it does not allow, RBAC still may. */
import { hasCode } from '../../../errors.ts'
import { type FieldSelector, parseFieldSelector } from '../../../kube/selectors.ts'
import type { Attributes, Decision } from '../access.ts'
import { quoted } from '../go-quote.ts'
import type { NodeGraph, NodeGraphKind } from './node-graph.ts'
import { nodeIdentity } from './node-identity.ts'
import { nodeRules } from './node-rules.ts'
import { ruleAllows } from './rule-matches.ts'

const allow: Decision = { allowed: true, reason: '' }
const noOpinion = (reason = ''): Decision => ({ allowed: false, reason })
const nodeLeaseNamespace = 'kube-node-lease'

interface Asked {
  node: string
  verb: string
  subresource: string
  namespace: string
  name: string
  attributes: Attributes
  graph: NodeGraph
}

type Check = (asked: Asked) => Decision

/** A selector that cannot be read selects nothing here; the request itself is answered 400 for it. */
function readSelector(text: string | undefined): FieldSelector {
  try {
    return parseFieldSelector(text ?? '')
  } catch (error) {
    if (hasCode(error, 'SELECTOR_INVALID')) return []
    throw error
  }
}

function selectsOwn({ attributes, node }: Asked, path: string): boolean {
  return readSelector(attributes.fieldSelector).some(
    requirement => requirement.path === path && requirement.operator === '=' && requirement.value === node,
  )
}

function related({ node, namespace, name, graph }: Asked, kind: NodeGraphKind): Decision {
  if (name === '') return noOpinion('No Object name found')
  if (graph.related(node, kind, namespace, name)) return allow
  return noOpinion(`no relationship found between node '${node}' and this object`)
}

const readOfPods =
  (kind: NodeGraphKind): Check =>
  asked => {
    if (!['get', 'list', 'watch'].includes(asked.verb))
      return noOpinion('can only read resources of this type')
    if (asked.subresource !== '') return noOpinion('cannot read subresource')
    if (asked.namespace === '') return noOpinion('can only read namespaced object of this type')
    return related(asked, kind)
  }

const ownVerbs = ['get', 'create', 'update', 'patch', 'delete']

const lease: Check = ({ verb, namespace, name, node }) => {
  if (!ownVerbs.includes(verb))
    return noOpinion('can only get, create, update, patch, or delete a node lease')
  if (namespace !== nodeLeaseNamespace) {
    return noOpinion(`can only access leases in the ${quoted(nodeLeaseNamespace)} system namespace`)
  }
  // The name is not known before a create is decoded; NodeRestriction checks it then.
  if (verb === 'create' || name === node) return allow
  return noOpinion('can only access node lease with the same name as the requesting node')
}

const csiNode: Check = ({ verb, subresource, name, node }) => {
  if (!ownVerbs.includes(verb)) return noOpinion('can only get, create, update, patch, or delete a CSINode')
  if (subresource !== '') return noOpinion('cannot authorize CSINode subresources')
  if (verb === 'create' || name === node) return allow
  return noOpinion('can only access CSINode with the same name as the requesting node')
}

const ownNode: Check = ({ verb, subresource, name, node }) => {
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allow : noOpinion()
  if (subresource !== '') return noOpinion()
  // Writes are limited to the own name by NodeRestriction.
  if (['create', 'update', 'patch'].includes(verb)) return allow
  if (!['get', 'list', 'watch'].includes(verb)) return noOpinion()
  if (name === node) return allow
  return noOpinion(
    name === ''
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  )
}

const pod: Check = asked => {
  const { verb, subresource, name } = asked
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allow : noOpinion()
  if (subresource === 'eviction') return verb === 'create' ? allow : noOpinion()
  if (subresource !== '') return noOpinion()
  if (verb === 'create' || verb === 'delete') return allow
  if (verb === 'get') return related(asked, 'pods')
  if (verb !== 'list' && verb !== 'watch') return noOpinion()
  if (selectsOwn(asked, 'spec.nodeName')) return allow
  if (name !== '') return related(asked, 'pods')
  return noOpinion('can only list/watch pods with spec.nodeName field selector')
}

const serviceAccount: Check = asked => {
  if (asked.verb !== 'create' || asked.name === '') {
    return noOpinion('can only create tokens for individual service accounts')
  }
  if (asked.subresource !== 'token') return noOpinion('can only create token subresource of serviceaccount')
  return related(asked, 'serviceaccounts')
}

const resourceSlice: Check = asked => {
  if (asked.subresource !== '') return noOpinion('cannot authorize ResourceSlice subresources')
  if (asked.verb === 'create') return allow
  if (['get', 'update', 'patch', 'delete'].includes(asked.verb)) return related(asked, 'resourceslices')
  if (!['watch', 'list', 'deletecollection'].includes(asked.verb)) {
    return noOpinion(
      'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
    )
  }
  if (selectsOwn(asked, 'spec.nodeName')) return allow
  return noOpinion('can only list/watch/deletecollection resourceslices with nodeName field selector')
}

/** Resources whose objects belong to nodes; every other one is the same for all nodes. */
const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['/secrets', readOfPods('secrets')],
  ['/configmaps', readOfPods('configmaps')],
  ['/serviceaccounts', serviceAccount],
  ['/nodes', ownNode],
  ['/pods', pod],
  ['coordination.k8s.io/leases', lease],
  ['storage.k8s.io/csinodes', csiNode],
  ['resource.k8s.io/resourceslices', resourceSlice],
])

/** Not allowed means no opinion (A-61). The reasons are Kubernetes' own. */
export function authorizeNode(attributes: Attributes, graph: NodeGraph): Decision {
  const node = nodeIdentity(attributes.user)
  if (node === undefined) return noOpinion()
  if (node === '') return noOpinion(`unknown node for user ${quoted(attributes.user.username)}`)
  const { verb, resource, group = '', subresource = '', namespace = '', name = '' } = attributes
  const check = resource === undefined ? undefined : checks.get(`${group}/${resource}`)
  if (check) return check({ node, verb, subresource, namespace, name, attributes, graph })
  return nodeRules.some(rule => ruleAllows(rule, attributes)) ? allow : noOpinion()
}
