/** What the API tells of a cluster. */
import type { CertificateSigningRequest, KubeEvent, KubeNode, Lease } from '../../kube/types.ts'
import type { Served } from './endpoint-artifacts.ts'

export interface PublishedRoot {
  namespace: string
  /** Certificates in PEM, everything else left out; absent: the namespace has no kube-root-ca.crt. */
  pem?: string
  /** What there is beside plain PEM, in words. */
  oddities?: string[]
}

/** ConfigMap kube-public/cluster-info, the kubeconfig that a joining node starts from. */
export interface ClusterInfo {
  /** Absent where the kubeconfig cannot be read; `problem` says why. */
  server?: string
  /** PEM. */
  certificateAuthority?: string
  problem?: string
  /** Token ids that signed it (`jws-kubeconfig-ID`). */
  signedBy: string[]
}

/** A Secret bootstrap-token-*, without the secret part of the token. */
export interface BootstrapTokenFacts {
  /** Name of the Secret. */
  name: string
  type: string
  tokenId: string
  hasSecret: boolean
  /** As written; empty: never. */
  expiration: string
  authentication: boolean
  signing: boolean
  groups: string[]
}

export type AccessPurpose = 'join' | 'nodeclient' | 'selfnodeclient'

/** The answer to one SubjectAccessReview. */
export interface AccessAnswer {
  purpose: AccessPurpose
  user: string
  groups: string[]
  allowed: boolean
}

/** A program of the control plane that runs as a pod, with those of its flags that are about certificates. */
export interface ControlPlaneProgram {
  program: 'kube-apiserver' | 'kube-controller-manager'
  pod: string
  flags: Record<string, string>
}

/** A server that the API server calls: an extension API server or a webhook. */
export interface CalledServer {
  object: string
  /** PEM; absent: none is given, so the API server's own roots count. */
  caBundle?: string
  /** Reason and message, where the API says that it is not available. */
  unavailable?: string
}

/** Who may update approvals, and for which of the two signers of kubelets he may approve. */
export interface Approver {
  /** `User x`, `Group y`, `ServiceAccount ns/z`. */
  subject: string
  role: string
  binding: string
  signers: string[]
}

/** A CARotation, as far as people look at it. Times in RFC 3339. */
export interface RotationFacts {
  name: string
  role: string
  from: number
  to: number
  phase: string
  begun: string
  paused?: { since: string; reason: string }
}

/** A MachineConfigPool of OpenShift that is paused and has not what was rendered for it. */
export interface PausedPool {
  name: string
  wanted: string
  current: string
}

/** Pods that run since before the newest CA of the published bundle was made. Times in RFC 3339. */
export interface PodsBeforeCa {
  notBefore: string
  pods: { namespace: string; name: string; started: string }[]
}

/** Ids of the keys that verify tokens of service accounts, and of those that signed the tokens in Secrets. */
export interface TokenKeys {
  keyIds: string[]
  /** `NAMESPACE/NAME` of the Secret. */
  tokens: { secret: string; keyId: string }[]
}

/** The newest certificate of one kind that a ledger knows a node by. Times in RFC 3339. */
export interface LedgerLeaf {
  node: string
  kind: 'client' | 'serving'
  notBefore: string
  notAfter: string
  ipAddresses: string[]
  dnsNames: string[]
}

export interface ClusterArtifacts {
  requests: CertificateSigningRequest[]
  nodes: KubeNode[]
  /** Of nodes that there are. Requests are deleted an hour after they were answered (C-40), a ledger remembers. */
  ledgerLeaves: LedgerLeaf[]
  /** Those in kube-node-lease. */
  nodeLeases: Lease[]
  /** Those in kube-system of programs that approve and sign. */
  controllerLeases: Lease[]
  /** About Nodes and CertificateSigningRequests, warnings only. */
  events: KubeEvent[]
  rootCertificates: PublishedRoot[]
  clusterInfo: ClusterInfo
  /** client-ca-file of kube-system/extension-apiserver-authentication, PEM. */
  clientTrust: string
  bootstrapTokens: BootstrapTokenFacts[]
  /** Whether the tokens of the cluster may join, and its nodes renew; absent where it is not joined by tokens. */
  joinAccess: AccessAnswer[]
  /** Whether those whose requests wait may have them approved. */
  requesterAccess: AccessAnswer[]
  /** Each API server by its own address. */
  apiServers: Served[]
  /** Programs of the control plane that are pods. */
  controlPlane: ControlPlaneProgram[]
  calledServers: CalledServer[]
  /** RFC 3339, whole seconds: the API's clock and ours at the same moment. */
  clocks: { server: string; local: string }
  approvers: Approver[]
  rotations: RotationFacts[]
  pausedPools: PausedPool[]
  /** Absent where the published bundle holds one CA. */
  podsBeforeCa: PodsBeforeCa
  tokenKeys: TokenKeys
}

export const clusterArtifactNames = [
  'requests',
  'nodes',
  'ledgerLeaves',
  'nodeLeases',
  'controllerLeases',
  'events',
  'rootCertificates',
  'clusterInfo',
  'clientTrust',
  'bootstrapTokens',
  'joinAccess',
  'requesterAccess',
  'apiServers',
  'controlPlane',
  'calledServers',
  'clocks',
  'approvers',
  'rotations',
  'pausedPools',
  'podsBeforeCa',
  'tokenKeys',
] as const satisfies readonly (keyof ClusterArtifacts)[]
