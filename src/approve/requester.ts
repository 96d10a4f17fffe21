/** Who asks: the API server has stamped spec.username and spec.groups, so they can be relied upon. */
import { attestationAccount } from '../kube/rollcall/node-identity.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import { type ApprovalPolicy, defaultBootstrapGroups } from './policy.ts'

export type Requester =
  | { kind: 'node'; nodeName: string }
  | { kind: 'bootstrap' }
  /** A machine that has proven itself; `tokenId` is the JTI of what it got for that. */
  | { kind: 'attested'; tokenId: string }
  | { kind: 'stranger' }

const attestedUser = `system:serviceaccount:${attestationAccount.namespace}:${attestationAccount.name}`
const credentialId = 'authentication.kubernetes.io/credential-id'

export const nodeUserPrefix = 'system:node:'

/** A node identity is the username and both groups; one of the three alone is none. */
export function requesterOf(csr: CertificateSigningRequest, policy: ApprovalPolicy | undefined): Requester {
  const username = csr.spec.username ?? ''
  const groups = csr.spec.groups ?? []
  if (
    username.startsWith(nodeUserPrefix) &&
    username.length > nodeUserPrefix.length &&
    groups.includes('system:nodes') &&
    groups.includes('system:authenticated')
  )
    return { kind: 'node', nodeName: username.slice(nodeUserPrefix.length) }
  if (username === attestedUser) {
    const [id = ''] = csr.spec.extra?.[credentialId] ?? []
    return { kind: 'attested', tokenId: id.startsWith('JTI=') ? id.slice('JTI='.length) : '' }
  }
  const bootstrapGroups = policy?.bootstrapGroups ?? defaultBootstrapGroups
  if (groups.some(group => bootstrapGroups.includes(group))) return { kind: 'bootstrap' }
  return { kind: 'stranger' }
}
