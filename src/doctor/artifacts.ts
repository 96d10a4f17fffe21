/**
 * What the doctor looks at: gathered once, plain JSON, free of secrets, so that a bundle is these artifacts in a file and
 * every check says the same of a bundle as of the cluster.
 */

import type { CertificateSigningRequest, KubeEvent, KubeNode, Lease } from '../kube/types.ts'
import type { CanaryOutcome } from '../survey/canary/run-canary.ts'

/**
 * One artifact, or why there is none. `forbidden`, `failed`: it could not be had, so a check that needs it is SKIP.
 * `absent`: this cluster has no such thing; `notAsked`: not part of this run.
 */
export type Gathered<T> =
  | {
      status: 'ok'
      value: T
      /** What of it is not there: what is found counts, and that nothing is found is not OK. */
      partial?: string
    }
  | { status: 'forbidden' | 'failed' | 'absent' | 'notAsked'; reason: string }

export type ArtifactStatus = Gathered<unknown>['status']

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

/** What a TLS server presented. */
export interface Served {
  host: string
  port: number
  /** DER in base64, leaf first; empty where the handshake failed. */
  chain: string[]
  /** Why there was no handshake, e.g. `tls: internal error` or `connect ECONNREFUSED`. */
  failure?: string
}

export interface ApiReach {
  server: string
  /** Absent: reached. */
  failure?: string
}

/** What the API answered to the first question, GET /version. */
export interface ApiAnswer {
  server: string
  /** gitVersion; absent where it may not be read. */
  version?: string
  /**
   * Why nothing more was asked. `silent`: no answer; `strange`: not that of a Kubernetes API; `untrusted`: by the CA of
   * our kubeconfig; `refused`: our credential.
   */
  trouble?: { kind: 'silent' | 'strange' | 'untrusted' | 'refused'; message: string }
}

export interface NodeProbe extends Served {
  node: string
}

/** One PREFIX-*.pem in a certificate directory. The key itself is never kept. */
export interface PairFile {
  name: string
  kind: 'file' | 'symlink' | 'directory' | 'other'
  mode: number
  size: number
  /** Where a symlink leads. */
  target?: string
  /** The file, or where its link leads, cannot be read: the error's code, e.g. ENOENT. */
  unreadable?: string
  /** Certificates in PEM, leaf first. */
  certificates?: string
  hasKey?: boolean
  /** Absent where there is no certificate, no key, or one that cannot be read. */
  keyMatches?: boolean
}

export interface CertDirectory {
  path: string
  files: PairFile[]
}

export interface KubeconfigFile {
  path: string
  /** Why it cannot be used: missing file, or the sentence of KUBECONFIG_INVALID. */
  problem?: string
  missing?: boolean
  server?: string
  /** PEM. */
  certificateAuthority?: string
  credential?: 'certificate' | 'token' | 'exec' | 'none'
  /** client-certificate where it is a file; absent where it is embedded. */
  certificateFile?: string
  /** Files it names that are not there. */
  missingFiles?: string[]
  /** The client certificate it leads to, in PEM. */
  certificate?: string
}

/** What a KubeletConfiguration says about certificates; with the kubelet's defaults where it says nothing. */
export interface KubeletConfigFacts {
  path: string
  rotateCertificates: boolean
  serverTLSBootstrap: boolean
  tlsCertFile?: string
  /** authentication.x509.clientCAFile, by which it trusts the API server's client certificate. */
  clientCaFile?: { path: string /** PEM; absent: it cannot be read. */; certificates?: string }
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

/** What cluster-info tells about the bootstrap token of a node, without the token. */
export interface TokenProof {
  tokenId: string
  /** Whether a token of this id signed it. */
  signed: boolean
  /** Whether it did so with the secret part that the node has. */
  secretFits: boolean
}

/** The files by which a signer on this node signs. */
export interface SigningFiles {
  certificate: string
  key: string
  /** PEM. */
  certificates: string
  /** Absent: there is no key, or no certificate. */
  keyMatches?: boolean
}

export interface NodeName {
  name: string
  /** Where it comes from. */
  source: string
}

export interface DiskSpace {
  path: string
  freeBytes: number
  /** Inodes. */
  freeFiles: number
  readOnly: boolean
}

/** What the API answered to the bootstrap credential. */
export interface BootstrapAttempt {
  server: string
  /** The HTTP status; 0: no answer. */
  status: number
  message: string
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

/** The pins that a node joins by, in lower-case hexadecimal, and the CAs (PEM) that cluster-info tells anybody. */
export interface JoinPins {
  server: string
  pins: string[]
  certificateAuthority: string
}

/** The exec plugin of a kubeconfig on the node, after it was run. */
export interface ExecPlugin {
  /** Of the kubeconfig. */
  path: string
  command: string
  failure?: string
}

/** A line of a log that tells something about certificates. */
export interface LogLine {
  file: string
  /** RFC 3339; absent where the line does not say it in full. */
  at?: string
  text: string
}

/** Something that may not be read, and what was answered. */
export interface Refusal {
  artifact: string
  reason: string
}

export interface Artifacts {
  requests: CertificateSigningRequest[]
  nodes: KubeNode[]
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
  apiServing: Served
  /** Whether there was a TLS handshake with the API server at all. */
  apiReach: ApiReach
  apiAnswer: ApiAnswer
  probes: NodeProbe[]
  /** How a request that proves approver and signer ended. */
  canary: CanaryOutcome
  /** Each API server by its own address. */
  apiServers: Served[]
  /** Programs of the control plane that are pods. */
  controlPlane: ControlPlaneProgram[]
  calledServers: CalledServer[]
  /** RFC 3339, whole seconds: the API's clock and ours at the same moment. */
  clocks: { server: string; local: string }
  /** Our own client certificate, PEM. */
  ownCertificate: string
  certDirectory: CertDirectory
  kubeconfig: KubeconfigFile
  bootstrapKubeconfig: KubeconfigFile
  bootstrapAttempt: BootstrapAttempt
  kubeletConfig: KubeletConfigFacts
  tokenProof: TokenProof
  signingFiles: SigningFiles
  nodeName: NodeName
  diskSpace: DiskSpace
  approvers: Approver[]
  rotations: RotationFacts[]
  pausedPools: PausedPool[]
  /** Absent where the published bundle holds one CA. */
  podsBeforeCa: PodsBeforeCa
  tokenKeys: TokenKeys
  joinPins: JoinPins
  execPlugins: ExecPlugin[]
  /** Of the logs that the doctor was given. */
  logLines: LogLine[]
  /** What of the above may not be read. */
  refusals: Refusal[]
}

export type ArtifactName = keyof Artifacts

export type GatheredArtifacts = { [Name in ArtifactName]: Gathered<Artifacts[Name]> }

export const artifactNames = [
  'requests',
  'nodes',
  'nodeLeases',
  'controllerLeases',
  'events',
  'rootCertificates',
  'clusterInfo',
  'clientTrust',
  'bootstrapTokens',
  'joinAccess',
  'requesterAccess',
  'apiServing',
  'apiReach',
  'apiAnswer',
  'probes',
  'canary',
  'apiServers',
  'controlPlane',
  'calledServers',
  'clocks',
  'ownCertificate',
  'certDirectory',
  'kubeconfig',
  'bootstrapKubeconfig',
  'bootstrapAttempt',
  'kubeletConfig',
  'tokenProof',
  'signingFiles',
  'nodeName',
  'diskSpace',
  'approvers',
  'rotations',
  'pausedPools',
  'podsBeforeCa',
  'tokenKeys',
  'joinPins',
  'execPlugins',
  'logLines',
  'refusals',
] as const satisfies readonly ArtifactName[]

/** All artifacts as not asked for; a gatherer fills in its own. */
export function nothingGathered(reason: string): GatheredArtifacts {
  const none = { status: 'notAsked', reason } as const
  // Object.fromEntries forgets the names; robustness.test.ts holds that there is each.
  return Object.fromEntries(artifactNames.map(name => [name, none])) as GatheredArtifacts
}
