/** NodeRestriction: a node writes only its own objects, and not what would let it choose its workloads. */
import {
  type CertificateSigningRequest,
  type KubeNode,
  type KubeObject,
  resources,
  signerNames,
} from '../../../kube/types.ts'
import { commonName } from '../../../x509/name.ts'
import type { AdmissionRequest } from '../access.ts'
import { nodeIdentity } from '../authorization/node-identity.ts'
import { quoted } from '../go-quote.ts'
import { nodeUserPrefix } from '../system-identities.ts'
import { forbiddenLabelChanges } from './node-labels.ts'
import { admitPod } from './node-restriction-pods.ts'
import { admitTokenRequest, type TokenFacts } from './node-restriction-tokens.ts'
import { admittedName, refuse } from './refuse.ts'
import { requestedSubject } from './requested-subject.ts'
import { semanticallyEqual } from './semantically-equal.ts'

const leaseNamespace = 'kube-node-lease'

/** What is known beside the request. */
export type NodeFacts = Omit<TokenFacts, 'node'>

/** Throws ApiError 403 for a node's write that goes beyond itself. */
export function restrictNode(request: AdmissionRequest, facts: NodeFacts): void {
  const node = nodeIdentity(request.user)
  if (node === undefined) return
  if (node === '') {
    throw refuse(request, `could not determine node from user ${quoted(request.user.username)}`)
  }
  checks.get(`${request.group}/${request.resource}`)?.(request, node, facts)
}

type Check = (request: AdmissionRequest, node: string, facts: NodeFacts) => void

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['/nodes', admitNode],
  [
    '/pods',
    (request, node, { reader }) =>
      admitPod(request, node, reader.get<KubeNode>(resources.nodes, node)?.metadata.uid),
  ],
  ['/serviceaccounts', (request, node, facts) => admitTokenRequest(request, { ...facts, node })],
  ['coordination.k8s.io/leases', admitLease],
  ['storage.k8s.io/csinodes', admitCsiNode],
  ['certificates.k8s.io/certificatesigningrequests', admitSigningRequest],
  ['resource.k8s.io/resourceslices', admitResourceSlice],
])

/** Fields of a Node that Rollcall itself has no use for. */
type NodeSpec = KubeNode['spec'] & { taints?: unknown; configSource?: unknown }

const specOf = (object: KubeObject | undefined): NodeSpec => (object as KubeNode | undefined)?.spec ?? {}

function admitNode(request: AdmissionRequest, node: string): void {
  const name = request.name || request.object?.metadata.name || ''
  if (name !== node) {
    throw refuse(request, `node ${quoted(node)} is not allowed to modify node ${quoted(name)}`)
  }
  if (request.operation === 'CREATE') admitNodeCreate(request, node)
  if (request.operation === 'UPDATE') admitNodeUpdate(request, node)
}

function admitNodeCreate(request: AdmissionRequest, node: string): void {
  if (specOf(request.object).configSource != null) {
    throw refuse(request, `node ${quoted(node)} is not allowed to create pods with a non-nil configSource`)
  }
  const labels = forbiddenLabelChanges(request.object?.metadata.labels)
  if (labels.length > 0) {
    throw refuse(
      request,
      `node ${quoted(node)} is not allowed to set the following labels: ${labels.join(', ')}`,
    )
  }
}

function admitNodeUpdate(request: AdmissionRequest, node: string): void {
  const { object, oldObject } = request
  const next = specOf(object)
  const previous = specOf(oldObject)
  if (next.configSource != null && !semanticallyEqual(next.configSource, previous.configSource)) {
    throw refuse(
      request,
      `node ${quoted(node)} is not allowed to update configSource to a new non-nil configSource`,
    )
  }
  // Its taints would let it steer workloads to itself.
  if (!semanticallyEqual(next.taints, previous.taints)) {
    throw refuse(request, `node ${quoted(node)} is not allowed to modify taints`)
  }
  // An owner that is gone would let the garbage collector delete the Node.
  if (!semanticallyEqual(object?.metadata.ownerReferences, oldObject?.metadata.ownerReferences)) {
    throw refuse(request, `node ${quoted(node)} is not allowed to modify ownerReferences`)
  }
  const labels = forbiddenLabelChanges(object?.metadata.labels, oldObject?.metadata.labels)
  if (labels.length > 0) throw refuse(request, `is not allowed to modify labels: ${labels.join(', ')}`)
}

/** On a create the object's own name counts: the request has none. */
function writtenName(request: AdmissionRequest): string {
  return request.operation === 'CREATE' ? (request.object?.metadata.name ?? '') : admittedName(request)
}

function admitLease(request: AdmissionRequest, node: string): void {
  if (request.namespace !== leaseNamespace) {
    throw refuse(request, `can only access leases in the ${quoted(leaseNamespace)} system namespace`)
  }
  if (writtenName(request) !== node) {
    throw refuse(request, 'can only access node lease with the same name as the requesting node')
  }
}

function admitCsiNode(request: AdmissionRequest, node: string): void {
  if (writtenName(request) !== node) {
    throw refuse(request, 'can only access CSINode with the same name as the requesting node')
  }
}

function admitResourceSlice(request: AdmissionRequest, node: string): void {
  const slice = (request.operation === 'DELETE' ? request.oldObject : request.object) as
    | (KubeObject & { spec?: { nodeName?: string } })
    | undefined
  if (slice?.spec?.nodeName === node) return
  const verb =
    request.operation === 'CREATE' ? 'create' : request.operation === 'UPDATE' ? 'update' : 'delete'
  throw refuse(request, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`)
}

const nodeSigners: readonly string[] = [signerNames.kubeletServing, signerNames.kubeletClient]

function admitSigningRequest(request: AdmissionRequest, node: string): void {
  if (request.operation !== 'CREATE' || request.subresource !== '') return
  const object = request.object as CertificateSigningRequest
  if (!nodeSigners.includes(object.spec?.signerName)) return
  const requested = requestedSubject(object)
  if (!requested.ok) throw refuse(request, `unable to parse csr: ${requested.reason}`)
  const wanted = nodeUserPrefix + node
  if (commonName(requested.subject) !== wanted) {
    throw refuse(request, `can only create a node CSR with CN=${wanted}`)
  }
}
