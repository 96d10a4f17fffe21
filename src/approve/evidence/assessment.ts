/** Every SAN of a request with everything that proves it. */
import type { ReadFacts } from '../facts.ts'
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
  proofs: readonly { level: EvidenceLevel; source: string }[]
}

export interface Assessment {
  sans: readonly SanAssessment[]
  /** Providers that could not be asked, and why. */
  errors: readonly { provider: string; text: string }[]
  conflicts: readonly { provider: string; text: string }[]
}

/** The sources that a request is judged by: what the controller follows, and what the facts say by themselves. */
export function providersOf(facts: ReadFacts): EvidenceProvider[] {
  const isProtected = protectedNodeStatus(facts)
  const own = [
    ...(isProtected ? [isProtected] : []),
    nodeStatusEvidence(facts.node),
    liveCertificateEvidence(facts.certified, facts.now),
  ]
  return [...(facts.evidence ?? []), ...own].sort((a, b) => strengthOf(b.level) - strengthOf(a.level))
}

/** Several rules of one judgement ask for it. */
const assessed = new WeakMap<ReadFacts, Assessment>()

export function assess(facts: ReadFacts): Assessment {
  const known = assessed.get(facts) ?? assessNow(facts)
  assessed.set(facts, known)
  return known
}

function assessNow(facts: ReadFacts): Assessment {
  const nodeName = subjectNode(facts.request)
  const requested = requestedSans(facts.request)
  const proofs = new Map(
    requested.map(san => [san.canonical, [] as { level: EvidenceLevel; source: string }[]]),
  )
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
  const sans = requested.map(san => ({ san, proofs: proofs.get(san.canonical) ?? [] }))
  return { sans, errors, conflicts }
}
