import { sha256Hex } from '../../x509/fingerprint.ts'
import type { ReadFacts } from '../facts.ts'
import { listed } from '../listed.ts'
import { deny, type Rule } from '../rule.ts'
import { subjectNode } from '../subject-node.ts'

export const keyNotShared: Rule<ReadFacts> = {
  name: 'KeyNotShared',
  sentence: 'No other node has a live certificate for the same key.',
  check({ request, certified, claims, now, policy }) {
    // H4. A request is signed with its key, so nobody can ask with a key that only another one has: a shared key was copied.
    const self = subjectNode(request)
    const holders = certified?.keyHolders?.(sha256Hex(request.spki), now) ?? []
    // A machine that was renamed keeps its key: the node that it was is gone.
    const others = holders.filter(({ nodeName }) => nodeName !== self && claims.has(nodeName))
    // H5: a key in hardware is kept, one in a file is better made anew.
    if (others.length === 0 && policy?.ownKey === 'deny' && holders.some(({ nodeName }) => nodeName === self))
      return deny(
        'KeyReused',
        'the key is that of the live certificate of this node, and the policy wants a new one',
      )
    if (others.length === 0) return undefined
    const nodes = listed(others.map(({ nodeName }) => `"${nodeName}"`))
    return deny(
      'KeyReused',
      `the key is also that of a live certificate of node ${nodes}: make a new one on each machine`,
    )
  },
}
