import type { DiscoverySourceOptions } from '../join/discovery/discovery-source.ts'
import type { KeyReference } from '../keys/key-reference.ts'
import type { LoadCryptoki } from '../keys/pkcs11/cryptoki.ts'
import type { Pkcs11Uri } from '../keys/pkcs11/uri.ts'
import type { KeyAlgorithm } from '../keys/private-key.ts'
import type { OpenTpm } from '../keys/tpm/channel.ts'
import type { Connect } from '../kube/transport.ts'
import type { NodeAddress } from '../kube/types.ts'
import type { Clock, Disk, Log, Net, Random, Spawn } from '../ports.ts'
import type { BesideKubeletOptions } from './beside-kubelet/beside-kubelet.ts'
import type { ServeProxy, ServeSocket } from './beside-kubelet/local-doors.ts'
import type { ControlPlaneOptions } from './control-plane/control-plane.ts'
import type { ComponentProcesses } from './control-plane/processes.ts'
import type { ServeHttps } from './serving.ts'
import type { RunningStaticPods } from './start-static-pods.ts'
import type { StartTokenTls } from './token-connect.ts'

/** A plugin on a unix socket that gives the bootstrap credential (join/plugin-source.ts). */
export interface CredentialPluginOptions {
  socket: string
  /** `namespace/name` of the static pod that serves it: it is asked only when that pod is ready, and then at once. */
  staticPod?: string
  /** User id that may own socket and folders, beside root and the agent's own. */
  owner?: number
}

/** By what a machine proves which one it is, and where when it is not at the API server. */
export type AttestOptions = ({ tpm: string } | { key: KeyReference }) & { server?: string }

export type DiscoveryOptions = Pick<DiscoverySourceOptions, 'server' | 'tokenFile' | 'pins'>

/** What the node side of a cluster is told at start. Defaults are Kubernetes' (KubeletConfiguration), except where noted. */
export interface AgentOptions {
  nodeName: string
  /** Published in the Node's status; from there the serving certificate takes its names (K-72). */
  addresses: readonly NodeAddress[]
  /** Where the pairs lie: `kubelet-client-current.pem`, `kubelet-server-current.pem` (K-11). */
  certDirectory: string
  /** The node's own kubeconfig; written at once when it is missing (K-10). */
  kubeconfigPath: string
  /** Read anew at every attempt to bootstrap; may come later than the agent. Absent: only the kubeconfig's server is known. */
  bootstrapKubeconfigPath?: string
  /**
   * Renew the client certificate before it lapses; default false, as in Kubernetes. Without it the kubelet blocks its
   * start until it has bootstrapped and then never asks again (K-3). Ours never blocks: it bootstraps in the background,
   * does not renew before the certificate lapses, and after a lapse or a 401 goes back to the bootstrap credential.
   */
  rotateCertificates?: boolean
  /** Have the serving certificate issued by the cluster (K-70); default false: a self-signed one, renewed in time. */
  serverTLSBootstrap?: boolean
  /** For keys of both certificates; default ECDSA-P256 (K-36). */
  keyAlgorithm?: KeyAlgorithm
  /** The token that the client certificate's keys are made in, and never leave; absent: they are kept in files. */
  clientKeyToken?: Pkcs11Uri
  /** With serverTLSBootstrap: the same for the serving certificate's keys. */
  servingKeyToken?: Pkcs11Uri
  /** A bootstrap credential: a certificate's path and its key in a token. Asked before the bootstrap kubeconfig. */
  bootstrapCertificate?: { certificate: string; key: Pkcs11Uri }
  /** The machine proves itself: asked before the bootstrap kubeconfig, which then need only name the API. */
  attest?: AttestOptions
  /** kubeadm's discovery with a bootstrap token; asked after the bootstrap kubeconfig. */
  discovery?: DiscoveryOptions
  /**
   * File of the pinned trust roots (src/trust/trust-roots.ts). With it the node takes CAs from bundles that they signed and
   * from nowhere else, and reports in its Lease which it has loaded. Absent: it trusts what its kubeconfig says.
   */
  trustRootsPath?: string
  /** Which process this is, for what it reports; the boot is `nodeInfo.bootID`, or the node's name. */
  instance?: { pid: number; startTicks: number }
  /** PEM file of the CAs that callers of the HTTPS server are verified with; default: the CA of the API server. */
  clientCertificateAuthorityPath?: string
  /** Where the HTTPS server listens; default 0.0.0.0. */
  listenAddress?: string
  /** Port of the HTTPS server; 0: any free one; default 10250. Published in the Node's daemonEndpoints. */
  port?: number
  /** Node lease, in seconds: default 40, renewed every 10 (with up to 4 % jitter). */
  leaseDurationSeconds?: number
  leaseRenewIntervalSeconds?: number
  /** Seconds between two reports of an unchanged status; default 300. A change is reported at once. */
  nodeStatusReportSeconds?: number
  /**
   * A kubelet runs on this machine, and the agent holds its certificates: Node, lease and HTTPS are the kubelet's business,
   * the agent only looks whether the API answers. Absent: there is none.
   */
  besideKubelet?: BesideKubeletOptions
  /**
   * With a kubelet beside: its `clientCAFile`, which then holds the bundle of the role client. Absent: by whom it judges its
   * callers is its own business.
   */
  kubeletClientCaPath?: string
  /** This node is one of a control plane that kubeadm made: where its folder is, and where what is under way is kept. */
  controlPlane?: Pick<ControlPlaneOptions, 'root' | 'stateDirectory'>
  /** Register the Node and keep its lease and status up to date; default true. False: certificates only. */
  heartbeat?: boolean
  /** Seconds after which the server is asked to end a watch; default: 300–600 at random. */
  watchTimeoutSeconds?: number
  /** Longest sleep of a certificate's timer, in seconds, after which the wall clock is looked at again; default 60. */
  clockCheckSeconds?: number
  /** Asked for a bootstrap credential in this order, before the bootstrap kubeconfig. */
  credentialPlugins?: readonly CredentialPluginOptions[]
  /** Laid over the Node's nodeInfo, e.g. `{ kubeletVersion: 'v1.36.0' }`. */
  nodeInfo?: Readonly<Record<string, string>>
  /** Laid over the Node's labels. */
  labels?: Readonly<Record<string, string>>
}

export interface AgentPorts {
  clock: Clock
  random: Random
  disk: Disk
  log: Log
  connect: Connect
  /** Absent: no exec plugin in the bootstrap kubeconfig. */
  spawn?: Spawn
  /** Absent: no credential plugins. */
  net?: Net
  /** Static pods of this machine, which run already and are stopped with the agent; absent: none. */
  staticPods?: RunningStaticPods
  /** Absent: no keys in a PKCS#11 token. */
  token?: { load: LoadCryptoki; startTls: StartTokenTls }
  /** Absent: no TPM. */
  openTpm?: OpenTpm
  /** What exec credential plugins inherit. */
  environment?: Readonly<Record<string, string>>
  /** Absent: no kubelet beside. */
  beside?: { serveSocket: ServeSocket; serveProxy: ServeProxy }
  /** Absent: no control plane is looked after here. */
  processes?: ComponentProcesses
  /** Absent: no HTTPS server. */
  listen?: ServeHttps
}
