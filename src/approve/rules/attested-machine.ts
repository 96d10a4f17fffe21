import type { MintedToken } from '../../kube/rollcall/node-identity.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import type { AttestationFacts, ReadFacts } from '../facts.ts'
import { requesterOf } from '../requester.ts'
import { deny, type Rule } from '../rule.ts'
import { subjectNode } from '../subject-node.ts'
import type { Objection } from '../verdict.ts'

/** L1–L9: a token is minted for one node, one key and one certificate, whatever RBAC lets its bearer ask for. */
export const attestedMachine: Rule<ReadFacts> = {
  name: 'AttestedMachine',
  sentence: 'What an attested machine was let in for is this node, this key, and one certificate.',
  only: 'client',
  check(facts) {
    const { csr, policy, attestation, request } = facts
    const requester = requesterOf(csr, policy)
    if (requester.kind !== 'attested') return undefined
    if (!attestation)
      return { outcome: 'Retry', code: 'IdentityNotRead', message: 'the NodeIdentity was not read yet' }
    const nodeName = subjectNode(request) ?? ''
    const { identity } = attestation
    const token = identity?.status?.tokens?.find(({ id }) => id === requester.tokenId)
    if (!identity || !token || requester.tokenId === '')
      return deny('AttestationUnknown', `the token was not minted for node "${nodeName}"`)
    if (identity.spec.state !== 'Approved')
      return deny('IdentityRevoked', `the identity of node "${nodeName}" is ${identity.spec.state}`)
    if (token.spki !== sha256Hex(request.spki))
      return deny('AttestedOtherKey', 'the key is not the one that the machine has attested')
    return token.request?.uid === csr.metadata.uid ? undefined : usedAlready(facts, attestation, token)
  },
}

function usedAlready(
  { certified, request, now }: ReadFacts,
  { usedBefore }: AttestationFacts,
  { request: before }: MintedToken,
): Objection | undefined {
  const used = (how: string) =>
    deny('AttestationUsed', `the token was used for request "${before?.name}"${how}; attest again`)
  switch (usedBefore) {
    case undefined:
    case 'refused':
      return undefined
    case 'issued':
      return used(', which got its certificate')
    case 'open':
      return {
        outcome: 'Retry',
        code: 'AttestationInUse',
        message: `request "${before?.name}" has the same token and is approved, but has no certificate yet`,
      }
    case 'gone': {
      // A request that was deleted without a certificate must not strand the node.
      const holders = certified?.keyHolders?.(sha256Hex(request.spki), now) ?? []
      return holders.some(({ nodeName }) => nodeName === subjectNode(request)) ? used('') : undefined
    }
  }
}
