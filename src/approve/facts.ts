/** Everything that judgement looks at, gathered beforehand: the same facts give the same verdict anywhere. */
import type { NodeIdentityObject } from '../kube/rollcall/node-identity.ts'
import type { CertificateSigningRequest, KubeNode } from '../kube/types.ts'
import type { CertificateRequest } from '../x509/request.ts'
import type { CertifiedAddresses } from './evidence/live-certificate.ts'
import type { EvidenceProvider } from './evidence/provider.ts'
import type { ApprovalPolicy } from './policy.ts'
import type { RequestReading } from './read-request.ts'

/** C-12: the subresources that a SubjectAccessReview asks about. */
export type ClientSubresource = 'selfnodeclient' | 'nodeclient'

export interface AccessReview {
  /** In the order in which they were asked. */
  tried: readonly ClientSubresource[]
  /** The first that was allowed; absent: none. */
  allowed?: ClientSubresource
}

export interface Claim {
  nodeName: string
  /** Where the Node claims it. A metadata.name cannot be claimed by two. */
  source: 'metadata.name' | 'status.addresses' | 'spec.podCIDRs'
  /** Its place in the order in which claims were first seen; 0: it was there before anybody looked. */
  since: number
}

/** Which Nodes claim an address or name (canonical form, canonical-name.ts). */
export interface AddressClaims {
  claims(canonical: string): readonly Claim[]
  /** Whether there is a Node of this name. */
  has(nodeName: string): boolean
  /** Its creation, milliseconds since the epoch; undefined when that is not known. */
  created(nodeName: string): number | undefined
}

/** A name or address of the cluster itself. */
export interface Reservation {
  /** own: no node can have it. published: a Service sends its traffic there. apiServer: the endpoint of an API server. */
  kind: 'own' | 'published' | 'apiServer'
  /** E.g. `the cluster IP of Service default/kubernetes`. */
  what: string
}

export interface ReservedAddresses {
  /** By name or address in canonical form; `bytes` of an address (4 or 16), for ranges. */
  find(canonical: string, bytes?: Uint8Array): Reservation | undefined
}

/** Whether only operators and cloud controllers can write the addresses of Nodes. */
export type Protection =
  | {
      inForce: true
      /** Milliseconds since the epoch. */
      since: number
    }
  | { inForce: false; why: string }

/** Other requests of the same requester for the same node and signer. */
export interface RequestHistory {
  /** The newest one that was made later than this. */
  newer?: string
  /** Within the hour before now. Superseded ones do not count. */
  denials: number
  approvals: number
}

/** What is known of the machine that says it has proven itself. */
export interface AttestationFacts {
  /** Of the node that the subject names; absent: there is none. */
  identity?: NodeIdentityObject
  /** What became of the request that its token was used for before; absent: it was not. */
  usedBefore?: 'issued' | 'open' | 'refused' | 'gone'
}

export interface Facts {
  csr: CertificateSigningRequest
  reading: RequestReading
  /** Milliseconds since the epoch. */
  now: number
  /** The Node that the subject's common name stands for; absent when there is none. */
  node?: KubeNode | undefined
  claims: AddressClaims
  /** Absent: no live certificate is known. */
  certified?: CertifiedAddresses | undefined
  /** Sources besides the Node itself. */
  evidence?: readonly EvidenceProvider[] | undefined
  /** Absent: it was not looked at. */
  protection?: Protection | undefined
  /** Absent: what the cluster reserves is not known. */
  reserved?: ReservedAddresses | undefined
  /** Absent: of other requests nothing is known. */
  history?: RequestHistory | undefined
  /** Absent: no policy, so serving requests are left to a human. */
  policy?: ApprovalPolicy | undefined
  /** Why there is none although one was written. */
  policyUnusable?: string | undefined
  /** For requests of attested machines; absent while it was not read yet. */
  attestation?: AttestationFacts | undefined
  /** Somebody else signs, who does not know the policy: what no request asks for, nobody bounds. Absent: we do. */
  signedElsewhere?: boolean | undefined
  /** For client requests; absent while not asked yet. */
  access?: AccessReview | undefined
}

/** Facts of a request that could be read. */
export interface ReadFacts extends Facts {
  request: CertificateRequest
}
