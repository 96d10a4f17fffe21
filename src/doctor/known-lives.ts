/** From when to when the newest certificate of each node is valid, whoever tells it: a request, a ledger, a condition, the node. */
import { conditionLife, conditionTypes } from '../survey/node-conditions/certificate-conditions.ts'
import type { Facts } from './facts.ts'
import type { Evidence } from './finding.ts'
import { latestIssued } from './node-certificates.ts'
import { probedAt, probedLeaves } from './probe-facts.ts'

export type CertificateKind = 'client' | 'serving'
export const certificateKinds: readonly CertificateKind[] = ['client', 'serving']

export interface KnownLife {
  node: string
  kind: CertificateKind
  /** Milliseconds since the epoch. */
  notBefore: number
  notAfter: number
  /** Who tells it. */
  where: Pick<Evidence, 'source' | 'at'>
}

/** What a view needs to ask for; all but the first two may be missing. */
export const lifeArtifacts = ['ledgerLeaves', 'probes'] as const
type LifeFacts = Pick<Facts, 'requests' | 'nodes'> & Partial<Pick<Facts, (typeof lifeArtifacts)[number]>>

/** The newest of each kind, of nodes that there are. */
export function knownLives(facts: LifeFacts): KnownLife[] {
  const there = new Set(facts.nodes.map(({ metadata }) => metadata.name))
  const newest = new Map<string, KnownLife>()
  for (const life of [...issued(facts), ...remembered(facts), ...stated(facts), ...presented(facts)]) {
    const key = `${life.kind} ${life.node}`
    const known = newest.get(key)
    // The first that tells of a certificate is the closest to it.
    if (there.has(life.node) && (!known || known.notBefore < life.notBefore)) newest.set(key, life)
  }
  return [...newest.values()]
}

/** Whether there is a node among these of which nobody tells a certificate of this kind. */
export function isUnknown(
  lives: readonly KnownLife[],
  nodes: Iterable<string>,
  kind: CertificateKind,
): boolean {
  const known = new Set(lives.flatMap(life => (life.kind === kind ? [life.node] : [])))
  return [...nodes].some(node => !known.has(node))
}

const issued = ({ requests }: LifeFacts): KnownLife[] =>
  certificateKinds.flatMap(kind =>
    latestIssued(requests, kind).map(({ node, certificate: { notBefore, notAfter }, request }) => ({
      ...{ node, kind, notBefore, notAfter },
      where: { source: `CertificateSigningRequest ${request.name} status.certificate` },
    })),
  )

const remembered = ({ ledgerLeaves = [] }: LifeFacts): KnownLife[] =>
  ledgerLeaves.map(({ node, kind, notBefore, notAfter }) => ({
    ...{ node, kind, notBefore: Date.parse(notBefore), notAfter: Date.parse(notAfter) },
    where: { source: "the signer's ledger" },
  }))

/** What controller --node-conditions wrote. */
const stated = ({ nodes }: LifeFacts): KnownLife[] =>
  nodes.flatMap(({ metadata: { name: node }, status }) =>
    certificateKinds.flatMap(kind => {
      const condition = status?.conditions?.find(({ type }) => type === conditionTypes[kind])
      const life = condition && conditionLife(condition)
      if (!life) return []
      const source = `Node ${node} status.conditions ${condition.type}`
      const at = condition.lastTransitionTime
      return [{ node, kind, ...life, where: { source, ...(at !== undefined && { at }) } }]
    }),
  )

const presented = ({ probes = [] }: LifeFacts): KnownLife[] =>
  probedLeaves(probes).map(({ probe, leaf: { notBefore, notAfter } }) => ({
    ...{ node: probe.node, kind: 'serving' as const, notBefore, notAfter },
    where: probedAt(probe),
  }))
