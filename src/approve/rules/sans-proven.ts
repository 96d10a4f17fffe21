import { assess, type Proof, suffices } from '../evidence/assessment.ts'
import type { EvidenceLevel } from '../evidence/level.ts'
import { whyNotProtected } from '../evidence/protected-node-status.ts'
import type { ReadFacts } from '../facts.ts'
import { listed } from '../listed.ts'
import { provenTexts } from '../proven-texts.ts'
import { requirementOf } from '../required-evidence.ts'
import { deny, type Rule, waitOrDeny } from '../rule.ts'
import { waitingEnds } from '../waiting.ts'

export const sansProven: Rule<ReadFacts> = {
  name: 'SansProven',
  sentence: 'Every SAN is proven at the level that the policy asks for.',
  only: 'serving',
  check(facts) {
    const { sans, conflicts } = assess(facts)
    const [conflict] = conflicts
    if (conflict) return deny('InventoryAmbiguous', `${conflict.provider}: ${conflict.text}`)
    const { level, pools } = requirementOf(facts)
    const isProven = (proofs: readonly Proof[]) => proofs.some(proof => suffices(proof, level))
    const unproven = sans.filter(({ proofs }) => !isProven(proofs))
    if (unproven.length === 0) return undefined
    const shown = listed(unproven.map(({ san }) => san.shown))
    const proven = sans.filter(({ proofs }) => isProven(proofs))
    const rest = proven.length > 0 ? `; proven: ${listed(provenTexts(proven))}` : ''
    // An address may reach the Node or the inventory after the request did, so this can still become right.
    const message = `SAN ${shown} not ${placeOf(facts, level, pools)}${rest}`
    return waitOrDeny(facts.now, waitingEnds(facts), 'SanUnproven', message)
  },
}

function placeOf(facts: ReadFacts, level: EvidenceLevel, pools: readonly string[]): string {
  const name = facts.node?.metadata.name ?? ''
  if (level === 'NodeStatus') return `on Node ${name} status.addresses`
  if (level === 'ProtectedNodeStatus')
    return `on Node ${name} status.addresses, protected${whyNotProtected(facts, name)}`
  const names = (facts.evidence ?? []).filter(source => source.level === level).map(({ name }) => name)
  const why = pools.length > 0 ? ` (evidence ${level}, pool ${pools.join(', ')})` : ` (evidence ${level})`
  return `in ${names.join(' or ') || 'any inventory'}${why}`
}
