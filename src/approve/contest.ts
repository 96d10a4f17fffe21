/**
 * Who keeps a name or address that several nodes could be certified for (ADR 6). In this order: stronger evidence, a live
 * certificate, the earlier claim, the earlier Node. Nothing a node does later takes away what another one has.
 */

import { canonicalIp, ownName } from './canonical-name.ts'
import { embeddedIpv4 } from './embedded-ipv4.ts'
import { assess, providersOf, type SanAssessment } from './evidence/assessment.ts'
import { ownNameStrength, strengthOf } from './evidence/level.ts'
import type { ReadFacts } from './facts.ts'
import { lastFound } from './last-found.ts'
import type { RequestedSan } from './requested-sans.ts'
import { subjectNode } from './subject-node.ts'

/** What one node has to show for a name or address. */
export interface Standing {
  nodeName: string
  /** Of its strongest evidence; 0: none. */
  strength: number
  /** Its certificate for it is valid until then, milliseconds since the epoch. */
  certifiedUntil?: number
  /** The place of its claim in the order of claims; Infinity: it does not claim it now. */
  since: number
  /** When its Node was created; undefined: not known. */
  created: number | undefined
  /** Where it claims it, for the verdict. */
  sources: readonly string[]
}

export type Advantage = 'evidence' | 'certificate' | 'claim' | 'node' | 'unknown'

/** What `a` has before `b`, or undefined when `b` is the one that keeps it. Unknown ages decide for nobody. */
export function advantageOf(a: Standing, b: Standing): Advantage | undefined {
  if (a.strength !== b.strength) return a.strength > b.strength ? 'evidence' : undefined
  const certified = [a, b].map(({ certifiedUntil }) => certifiedUntil !== undefined)
  if (certified[0] !== certified[1]) return certified[0] ? 'certificate' : undefined
  if (a.since !== b.since) return a.since < b.since ? 'claim' : undefined
  if (a.created === undefined || b.created === undefined) return undefined
  if (a.created !== b.created) return a.created < b.created ? 'node' : undefined
  return a.nodeName < b.nodeName ? 'node' : undefined
}

export interface Contest {
  san: RequestedSan
  mine: Standing
  /** The other nodes, sorted by name. */
  rivals: readonly Standing[]
  /** The form of address by which they are rivals, e.g. `NAT64 for 10.0.0.12`. */
  as?: string
}

/**
 * All SANs of the request that another node also has something to show for. Both the rule and the warnings of one
 * judgement ask for it.
 */
export const contestsOf: (facts: ReadFacts) => readonly Contest[] = lastFound(facts => {
  const self = subjectNode(facts.request)
  if (self === undefined) return []
  return assess(facts).sans.flatMap(assessed => contestsOver(facts, self, assessed))
})

function contestsOver(facts: ReadFacts, self: string, { san, proofs }: SanAssessment): Contest[] {
  const contests: Contest[] = []
  const rivals = rivalsFor(facts, self, san.canonical)
  if (rivals.length > 0) {
    const strengths = proofs.map(({ level }) => strengthOf(level))
    contests.push({ san, mine: standingOf(facts, self, san.canonical, strengths), rivals })
  }
  for (const { form, bytes } of san.kind === 'IP' ? embeddedIpv4(san.bytes) : []) {
    const canonical = canonicalIp(bytes)
    const hidden = rivalsFor(facts, self, canonical)
    if (hidden.length === 0) continue
    // For the address inside it counts what the node has to show for that one.
    const plain: RequestedSan = { kind: 'IP', shown: `IP ${canonical}`, canonical, bytes }
    const mine = standingOf(facts, self, canonical, strengthsOf(facts, self, plain))
    contests.push({ san, mine, rivals: hidden, as: `${form} for ${canonical}` })
  }
  return contests
}

/** What the node itself brings; `strengths` of its own evidence. */
function standingOf(facts: ReadFacts, self: string, canonical: string, strengths: number[]): Standing {
  const named = ownName(self) === canonical ? ownNameStrength : 0
  const claims = facts.claims.claims(canonical).filter(({ nodeName }) => nodeName === self)
  const until = facts.certified
    ?.holders(canonical, facts.now)
    .find(({ nodeName }) => nodeName === self)?.until
  return {
    nodeName: self,
    strength: Math.max(named, 0, ...strengths),
    ...(until !== undefined && { certifiedUntil: until }),
    since: Math.min(Number.POSITIVE_INFINITY, ...claims.map(({ since }) => since)),
    created: facts.claims.created(self),
    sources: claims.map(({ source }) => source),
  }
}

function strengthsOf(facts: ReadFacts, self: string, san: RequestedSan): number[] {
  return providersOf(facts).flatMap(provider => {
    const answer = provider.evidence(self, [san])
    return 'proven' in answer && answer.proven.has(san.canonical) ? [strengthOf(provider.level)] : []
  })
}

function rivalsFor(facts: ReadFacts, self: string, canonical: string): Standing[] {
  const rivals = new Map<string, Standing>()
  const add = (nodeName: string, more: Pick<Standing, 'strength'> & Partial<Standing>) => {
    if (nodeName === self) return
    const before = rivals.get(nodeName)
    rivals.set(nodeName, {
      created: facts.claims.created(nodeName),
      nodeName,
      ...before,
      ...more,
      strength: Math.max(before?.strength ?? 0, more.strength),
      since: Math.min(before?.since ?? Number.POSITIVE_INFINITY, more.since ?? Number.POSITIVE_INFINITY),
      sources: [...(before?.sources ?? []), ...(more.sources ?? [])],
    })
  }
  for (const { nodeName, source, since } of facts.claims.claims(canonical)) {
    const strength = source === 'metadata.name' ? ownNameStrength : strengthOf('NodeStatus')
    add(nodeName, { strength, since, sources: [source] })
  }
  for (const provider of providersOf(facts)) {
    if (provider.level === 'LiveCertificate') continue
    for (const nodeName of provider.holders(canonical))
      add(nodeName, {
        strength: strengthOf(provider.level),
        // What an inventory gives was never later; what a Node lists came when it came.
        ...(provider.level === 'Inventory' && { since: 0 }),
        sources: [provider.name],
      })
  }
  for (const { nodeName, until } of facts.certified?.holders(canonical, facts.now) ?? []) {
    // A node that is gone holds nothing. What it was certified for, it proved at the lowest level at least.
    if (facts.claims.has(nodeName))
      add(nodeName, {
        strength: strengthOf('NodeStatus'),
        certifiedUntil: until,
        sources: ['a live certificate'],
      })
  }
  return [...rivals.values()].sort((a, b) => (a.nodeName < b.nodeName ? -1 : 1))
}
