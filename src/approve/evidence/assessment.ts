/** Every SAN of a request with everything that proves it. */
import type { ReadFacts } from '../facts.ts'
import { lastFound } from '../last-found.ts'
import { nodeStatusEvidence } from '../node-status-evidence.ts'
import { type RequestedSan, requestedSans } from '../requested-sans.ts'
import { subjectNode } from '../subject-node.ts'
import { type EvidenceLevel, strengthOf } from './level.ts'
import { liveCertificateEvidence } from './live-certificate.ts'
import { protectedNodeStatus } from './protected-node-status.ts'
import type { EvidenceProvider } from './provider.ts'

export interface SanAssessment {
  san: RequestedSan
  /** Strongest first. */
  proofs: readonly Proof[]
}

export interface Proof {
  level: EvidenceLevel
  source: string
  /** It is enough where exactly this is asked for, though against another node it counts as its level does. */
  sufficesFor?: EvidenceLevel
}

/** Whether it is enough where this is asked for. */
export function suffices({ level, sufficesFor }: Proof, required: EvidenceLevel): boolean {
  return sufficesFor === required || strengthOf(level) >= strengthOf(required)
}

export interface Assessment {
  sans: readonly SanAssessment[]
  /** Providers that could not be asked, and why. */
  errors: readonly { provider: string; text: string }[]
  conflicts: readonly { provider: string; text: string }[]
}

/** The sources that a request is judged by: what the controller follows, and what the facts say by themselves. */
export const providersOf: (facts: ReadFacts) => readonly EvidenceProvider[] = lastFound(facts => {
  const isProtected = protectedNodeStatus(facts)
  const own = [
    ...(isProtected ? [isProtected] : []),
    nodeStatusEvidence(facts.node),
    liveCertificateEvidence(facts.certified, facts.now),
  ]
  return [...(facts.evidence ?? []), ...own].sort((a, b) => strengthOf(b.level) - strengthOf(a.level))
})

/** Several rules of one judgement ask for it. */
export const assess: (facts: ReadFacts) => Assessment = lastFound(assessNow)

function assessNow(facts: ReadFacts): Assessment {
  const nodeName = subjectNode(facts.request)
  const requested = requestedSans(facts.request)
  const proofs = new Map(requested.map(san => [san.canonical, [] as Proof[]]))
  const errors: Assessment['errors'][number][] = []
  const conflicts: Assessment['conflicts'][number][] = []
  for (const provider of nodeName === undefined ? [] : providersOf(facts)) {
    const answer = provider.evidence(nodeName ?? '', requested)
    if ('error' in answer) errors.push({ provider: provider.name, text: answer.error })
    else if ('conflict' in answer) conflicts.push({ provider: provider.name, text: answer.conflict })
    else
      for (const [canonical, source] of answer.proven)
        proofs.get(canonical)?.push({ level: provider.level, source })
  }
  const sans = requested.map(san => {
    const found = proofs.get(san.canonical) ?? []
    return { san, proofs: [...floating(facts, nodeName ?? '', san, found), ...found] }
  })
  return { sans, errors, conflicts }
}

/**
 * F21: an address that moves between nodes. The inventory says that the node may carry it, the Node that it does now; who of
 * several carries it is only as sure as that.
 */
function floating(facts: ReadFacts, nodeName: string, san: RequestedSan, proofs: readonly Proof[]): Proof[] {
  const [carried] = proofs
  if (san.kind !== 'IP' || !carried || !listedLevels.includes(carried.level)) return []
  const granting = (facts.evidence ?? []).filter(provider => provider.mayCarry?.(nodeName, san.bytes))
  return granting.slice(0, 1).map(({ name, level }) => ({
    level: carried.level,
    source: `${name} floating, ${carried.source}`,
    sufficesFor: level,
  }))
}

const listedLevels: readonly EvidenceLevel[] = ['NodeStatus', 'ProtectedNodeStatus']
