import type { Facts } from '../facts.ts'
import { requesterOf } from '../requester.ts'
import { deny, type Rule } from '../rule.ts'
import { claimsNode } from '../subject-node.ts'
import { kindOf } from './our-signer.ts'

export const requesterIsNode: Rule<Facts> = {
  name: 'RequesterIsNode',
  sentence:
    'A node asks for itself; a bootstrap identity or an attested machine asks for a first client certificate only.',
  check({ csr, policy, reading }) {
    const requester = requesterOf(csr, policy)
    if (requester.kind === 'node') return undefined
    if (requester.kind === 'bootstrap' || requester.kind === 'attested') {
      if (kindOf(csr) === 'client') return undefined
      return deny(
        'RequesterNotNode',
        `${asker(csr.spec.username)} is a bootstrap identity; it may ask for a client certificate only, serving certificates are for the node itself`,
      )
    }
    if (reading.request && claimsNode(reading.request))
      return deny(
        'RequesterNotNode',
        `${asker(csr.spec.username)} is neither a node (user system:node:<name> in groups system:nodes and system:authenticated) nor a bootstrap identity, but asks for a node's certificate`,
      )
    return { outcome: 'Ignore', code: 'RequesterNotNode', message: `${asker(csr.spec.username)} is no node` }
  },
}

const asker = (username: string | undefined) => `requester "${username ?? ''}"`
