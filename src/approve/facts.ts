/** Everything that judgement looks at, gathered beforehand: the same facts give the same verdict anywhere. */
import type { CertificateSigningRequest, KubeNode } from '../kube/types.ts'
import type { CertificateRequest } from '../x509/request.ts'
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

/** Which Nodes claim an address or name (canonical form, canonical-name.ts). */
export interface AddressClaims {
  holders(canonical: string): readonly string[]
}

export interface Facts {
  csr: CertificateSigningRequest
  reading: RequestReading
  /** Milliseconds since the epoch. */
  now: number
  /** The Node that the subject's common name stands for; absent when there is none. */
  node?: KubeNode | undefined
  claims: AddressClaims
  /** Absent: no policy, so serving requests are left to a human. */
  policy?: ApprovalPolicy | undefined
  /** For client requests; absent while not asked yet. */
  access?: AccessReview | undefined
}

/** Facts of a request that could be read. */
export interface ReadFacts extends Facts {
  request: CertificateRequest
}
