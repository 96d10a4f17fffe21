/** What was seen at the ends of connections. */
import type { CanaryOutcome } from '../../survey/canary/run-canary.ts'

/** What a TLS server presented. */
export interface Served {
  host: string
  port: number
  /** DER in base64, leaf first; empty where the handshake failed. */
  chain: readonly string[]
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
  /** RFC 3339: when a controller looked; absent: the doctor did. */
  at?: string
}

export interface EndpointArtifacts {
  apiServing: Served
  /** Whether there was a TLS handshake with the API server at all. */
  apiReach: ApiReach
  apiAnswer: ApiAnswer
  probes: NodeProbe[]
  /** How a request that proves approver and signer ended. */
  canary: CanaryOutcome
  /** Our own client certificate, PEM. */
  ownCertificate: string
}

export const endpointArtifactNames = [
  'apiServing',
  'apiReach',
  'apiAnswer',
  'probes',
  'canary',
  'ownCertificate',
] as const satisfies readonly (keyof EndpointArtifacts)[]
