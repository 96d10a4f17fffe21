import type { ReadFacts } from '../facts.ts'
import { listed } from '../listed.ts'
import { evidenceFor } from '../node-status-evidence.ts'
import { requestedSans } from '../requested-sans.ts'
import { type Rule, waitOrDeny } from '../rule.ts'
import { waitingEnds } from '../waiting.ts'

export const sansProven: Rule<ReadFacts> = {
  name: 'SansProven',
  sentence: "Every SAN is on the Node's status.addresses.",
  only: 'serving',
  check(facts) {
    const { node, request } = facts
    if (!node) return undefined
    const unproven = requestedSans(request).filter(san => evidenceFor(san, node) === undefined)
    if (unproven.length === 0) return undefined
    const shown = listed(unproven.map(san => san.shown))
    // An address may reach the Node's status after the request did, so this can still become right.
    const message = `SAN ${shown} not on Node ${node.metadata.name} status.addresses`
    return waitOrDeny(facts.now, waitingEnds(facts), 'SanUnproven', message)
  },
}
