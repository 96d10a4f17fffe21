import { rollcallGroup } from '../kube/rollcall/kind.ts'
import { attestationAccount } from '../kube/rollcall/node-identity.ts'
import type { PolicyRule } from '../kube/types.ts'
import { signerNames } from '../kube/types.ts'
import { canaryGroup, canaryUser } from '../survey/canary/run-canary.ts'

const certificates = 'certificates.k8s.io'
const signers = Object.values(signerNames)

/** To ask machines to prove themselves, in the whole cluster (deploy/rbac/rollcall-attestation.yaml). */
export const machineRules: PolicyRule[] = [
  // Its UID stands for the cluster.
  { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
  { apiGroups: [rollcallGroup], resources: ['nodeidentities'], verbs: ['get', 'list', 'create'] },
  { apiGroups: [rollcallGroup], resources: ['nodeidentities/status'], verbs: ['update'] },
]

/** All that the controllers may do in the whole cluster: what deploy/ and the embedded cluster bind them to. */
export const controllerRules: PolicyRule[] = [
  {
    apiGroups: [certificates],
    resources: ['certificatesigningrequests'],
    verbs: ['get', 'list', 'watch', 'delete'],
  },
  {
    apiGroups: [certificates],
    resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status'],
    verbs: ['update'],
  },
  {
    apiGroups: [certificates],
    resources: ['signers'],
    resourceNames: [signerNames.kubeletClient, signerNames.kubeletServing],
    verbs: ['approve'],
  },
  { apiGroups: [certificates], resources: ['signers'], resourceNames: signers, verbs: ['sign'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  // Only to hear that something changed: then access that was refused is reviewed again.
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['clusterroles', 'clusterrolebindings'],
    verbs: ['list', 'watch'],
  },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  { apiGroups: [''], resources: ['nodes', 'namespaces', 'services'], verbs: ['list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create', 'update'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
  { apiGroups: [rollcallGroup], resources: ['certificatepolicies'], verbs: ['list', 'watch'] },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    verbs: ['list', 'watch'],
  },
  { apiGroups: [rollcallGroup], resources: ['certificatepolicies/status'], verbs: ['update'] },
  // To let machines in whose key the inventory knows.
  { apiGroups: [rollcallGroup], resources: ['nodeidentities'], verbs: ['watch', 'update'] },
  ...machineRules,
]

/** For `--node-conditions`. */
export const conditionRules: PolicyRule[] = [
  { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
]

/** For `--canary`: to act as one node that there is not, and as no other. */
export const canaryRules: PolicyRule[] = [
  { apiGroups: [''], resources: ['users'], resourceNames: [canaryUser], verbs: ['impersonate'] },
  { apiGroups: [''], resources: ['groups'], resourceNames: [canaryGroup], verbs: ['impersonate'] },
]

/** For `--rollover`, beside what places in ConfigMaps, Secrets and ClusterTrustBundles its file names. */
export const rolloverRules: PolicyRule[] = [
  { apiGroups: [rollcallGroup], resources: ['carotations'], verbs: ['get', 'list'] },
  { apiGroups: [rollcallGroup], resources: ['carotations/status'], verbs: ['update'] },
  // What is in them counts by the signatures of trust roots alone.
  { apiGroups: [rollcallGroup], resources: ['trustbundles'], verbs: ['list', 'create'] },
  {
    apiGroups: [rollcallGroup],
    resources: ['trustconsumers'],
    verbs: ['list', 'create', 'update', 'delete'],
  },
  { apiGroups: [rollcallGroup], resources: ['trustconsumers/status'], verbs: ['update'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
  // Orders to agents are annotations.
  { apiGroups: [''], resources: ['nodes'], verbs: ['patch'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] },
  // Service accounts' tokens that lie in Secrets have the CA beside them.
  { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'patch'] },
]

/** For service-accounts and node-lifecycle, which only a cluster without kube-controller-manager needs. */
export const managerRules: PolicyRule[] = [
  { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['list', 'watch', 'create'] },
  { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list', 'watch'] },
]

/** Bound in namespace kube-system only: bootstrap tokens are Secrets. */
export const tokenRules: PolicyRule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch', 'delete'] },
]

/** In namespace kube-system: tokens of one ServiceAccount and no other, for machines that have proven themselves. */
export const attestationRules: PolicyRule[] = [
  {
    apiGroups: [''],
    resources: ['serviceaccounts/token'],
    resourceNames: [attestationAccount.name],
    verbs: ['create'],
  },
]
