/**
 * Which lists a strategic merge patch merges, and by which key: Kubernetes' patchStrategy and patchMergeKey tags of the
 * kinds served here. A path goes through lists without saying so (`spec.containers.ports`). A list that is not named is
 * replaced whole, e.g. conditions of a CertificateSigningRequest, rules and subjects of RBAC, taints of a Node.
 */

/** Merge key of a list of objects; '' for a list of plain values, which is merged as a set. */
export type MergeKeys = Readonly<Record<string, string>>

const metadata: MergeKeys = {
  'metadata.ownerReferences': 'uid',
  'metadata.finalizers': '',
}

const containerLists: MergeKeys = {
  env: 'name',
  ports: 'containerPort',
  volumeMounts: 'mountPath',
  volumeDevices: 'devicePath',
}

const containers: MergeKeys = Object.fromEntries(
  ['containers', 'initContainers', 'ephemeralContainers'].flatMap(list => [
    [`spec.${list}`, 'name'],
    ...Object.entries(containerLists).map(([field, key]) => [`spec.${list}.${field}`, key]),
  ]),
)

const byKind: Readonly<Record<string, MergeKeys>> = {
  Node: { 'status.conditions': 'type', 'status.addresses': 'type', 'spec.podCIDRs': '' },
  Namespace: { 'status.conditions': 'type' },
  ServiceAccount: { secrets: 'name', imagePullSecrets: 'name' },
  CSINode: { 'spec.drivers': 'name' },
  Service: { 'spec.ports': 'port', 'status.conditions': 'type' },
  Pod: {
    ...containers,
    'spec.volumes': 'name',
    'spec.imagePullSecrets': 'name',
    'spec.hostAliases': 'ip',
    'spec.topologySpreadConstraints': 'topologyKey',
    'spec.schedulingGates': 'name',
    'spec.resourceClaims': 'name',
    'status.conditions': 'type',
    'status.podIPs': 'ip',
    'status.hostIPs': 'ip',
  },
}

/** The merged lists of a kind; an unknown kind merges those of its metadata only. */
export function mergeKeysOf(kind: string): MergeKeys {
  return { ...metadata, ...(Object.hasOwn(byKind, kind) ? byKind[kind] : {}) }
}

/** The kinds with merged lists of their own, for generating x-kubernetes-patch-merge-key. */
export const kindsWithMergeKeys: readonly string[] = Object.keys(byKind)
