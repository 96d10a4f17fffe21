/** NodeRestriction for pods: a node may announce the static pods it runs (mirror pods) and nothing else. */
import type { KubeObject, OwnerReference } from '../../../kube/types.ts'
import { resources } from '../../../kube/types.ts'
import { apiError } from '../../wire/api-error.ts'
import type { AdmissionRequest } from '../access.ts'
import { quoted } from '../go-quote.ts'
import { refuse } from './refuse.ts'

const mirrorAnnotation = 'kubernetes.io/config.mirror'

interface KeySource {
  configMapRef?: unknown
  secretRef?: unknown
  valueFrom?: { configMapKeyRef?: unknown; secretKeyRef?: unknown }
}

interface Container {
  env?: KeySource[]
  envFrom?: KeySource[]
}

type Volume = Record<string, unknown> & { projected?: { sources?: Record<string, unknown>[] } }

/** The fields of a Pod that matter here. */
interface Pod extends KubeObject {
  spec?: {
    nodeName?: string
    serviceAccountName?: string
    imagePullSecrets?: unknown[]
    volumes?: Volume[]
    containers?: Container[]
    initContainers?: Container[]
  }
}

/** Throws ApiError 403. `nodeUid`: uid of the node's own Node object, undefined where there is none yet. */
export function admitPod(request: AdmissionRequest, node: string, nodeUid: string | undefined): void {
  const { subresource, operation } = request
  const existing = request.oldObject as Pod | undefined
  const own = existing?.spec?.nodeName === node
  if (subresource === 'status') {
    if (!own) throw refuse(request, onlyOwn(node, 'update pod status for pods'))
  } else if (subresource === 'eviction') {
    if (!own) throw refuse(request, onlyOwn(node, 'evict pods'))
  } else if (subresource !== '') {
    throw refuse(
      request,
      `unexpected pod subresource ${quoted(subresource)}, only 'status' and 'eviction' are allowed`,
    )
  } else if (operation === 'CREATE') {
    admitMirrorPod(request, node, nodeUid)
  } else if (operation === 'DELETE') {
    if (!own) throw refuse(request, onlyOwn(node, 'delete pods'))
  } else {
    throw refuse(
      request,
      `unexpected operation ${quoted(operation)}, node ${quoted(node)} can only create and delete mirror pods`,
    )
  }
}

const onlyOwn = (node: string, what: string) =>
  `node ${quoted(node)} can only ${what} with spec.nodeName set to itself`

function admitMirrorPod(request: AdmissionRequest, node: string, nodeUid: string | undefined): void {
  const pod = request.object as Pod
  if (!Object.hasOwn(pod.metadata.annotations ?? {}, mirrorAnnotation)) {
    throw refuse(
      request,
      `pod does not have ${quoted(mirrorAnnotation)} annotation, node ${quoted(node)} can only create mirror pods`,
    )
  }
  if (pod.spec?.nodeName !== node) throw refuse(request, onlyOwn(node, 'create pods'))
  const complaint = ownerComplaint(pod.metadata.ownerReferences ?? [], node)
  if (complaint) throw refuse(request, complaint)
  if (nodeUid === undefined) throw apiError.notFound(resources.nodes, node)
  const owner = pod.metadata.ownerReferences?.[0]
  if (owner?.uid !== nodeUid) {
    throw refuse(request, `node ${node} UID mismatch: expected ${owner?.uid} got ${nodeUid}`)
  }
  const reference = referenceOf(pod)
  if (reference) {
    throw refuse(request, `node ${quoted(node)} can not create pods that reference ${reference}`)
  }
}

function ownerComplaint(owners: readonly OwnerReference[], node: string): string | undefined {
  const only = `node ${quoted(node)} can only create pods with`
  const [owner, ...more] = owners
  if (more.length > 0) return `${only} a single owner reference set to itself`
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `${only} an owner reference set to itself`
  }
  if (!owner.controller) return `${only} a controller owner reference set to itself`
  if (owner.blockOwnerDeletion) {
    return `node ${quoted(node)} must not set blockOwnerDeletion on an owner reference`
  }
  return undefined
}

/** The first kind of API object that the pod needs and that reading it would open to the node. */
function referenceOf({ spec = {} }: Pod): string | undefined {
  if (spec.serviceAccountName) return 'a service account'
  const volumes = (spec.volumes ?? []).flatMap(volume => [volume, ...(volume.projected?.sources ?? [])])
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  const sources = containers.flatMap(({ env = [], envFrom = [] }) => [...env, ...envFrom])
  const secret =
    (spec.imagePullSecrets?.length ?? 0) > 0 ||
    volumes.some(volume => volume.secret != null) ||
    sources.some(source => source.secretRef != null || source.valueFrom?.secretKeyRef != null)
  if (secret) return 'secrets'
  const configMap =
    volumes.some(volume => volume.configMap != null) ||
    sources.some(source => source.configMapRef != null || source.valueFrom?.configMapKeyRef != null)
  if (configMap) return 'configmaps'
  const claim = volumes.some(volume => volume.persistentVolumeClaim != null || volume.ephemeral != null)
  return claim ? 'persistentvolumeclaims' : undefined
}
