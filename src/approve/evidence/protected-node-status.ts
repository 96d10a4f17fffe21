/**
 * The Node's status.addresses while nodes cannot write them: only as long as the admission policy that we ship is seen in
 * force, and only for Nodes that were made under it. Older ones may have written theirs before.
 */
import type { KubeNode } from '../../kube/types.ts'
import { canonicalAddress } from '../canonical-name.ts'
import type { ReadFacts } from '../facts.ts'
import { evidenceFor } from '../node-status-evidence.ts'
import { termsOf } from '../policy-terms.ts'
import type { RequestedSan } from '../requested-sans.ts'
import { strengthOf } from './level.ts'
import type { EvidenceProvider } from './provider.ts'

/**
 * Milliseconds after the protection began from which on Nodes count: every API server must have seen it, and their clocks
 * differ.
 */
const settling = 60_000

/** Undefined where the policy does not ask for it. */
export function protectedNodeStatus(facts: ReadFacts): EvidenceProvider | undefined {
  const { policy, protection, node } = facts
  if (![policy, ...(policy?.pools ?? [])].some(terms => terms?.evidence === 'ProtectedNodeStatus'))
    return undefined
  return {
    name: 'protected status.addresses',
    level: 'ProtectedNodeStatus',
    evidence(nodeName, sans) {
      const proven = new Map<string, string>()
      if (!protection?.inForce)
        return isNeeded(facts, nodeName, sans)
          ? { error: protection?.why ?? 'the protection of node addresses was not looked at yet' }
          : { proven }
      if (node?.metadata.name !== nodeName || !isUnder(facts, nodeName)) return { proven }
      for (const san of sans) {
        const source = nameAsAddress(san, node) ? undefined : evidenceFor(san, node)
        if (source !== undefined) proven.set(san.canonical, `${source} (protected)`)
      }
      return { proven }
    },
    holders(canonical) {
      const claims = protection?.inForce ? facts.claims.claims(canonical) : []
      return claims.flatMap(({ nodeName, source }) =>
        source === 'status.addresses' && nodeName !== canonical && isUnder(facts, nodeName) ? [nodeName] : [],
      )
    },
  }
}

/** A node may list its own name as Hostname also under the protection, and chose that name itself. */
function nameAsAddress({ kind, canonical }: RequestedSan, { metadata, status }: KubeNode): boolean {
  if (kind !== 'IP' || canonical !== metadata.name) return false
  const addresses = (status?.addresses ?? []).filter(({ type }) => type !== 'Hostname')
  return !addresses.some(({ address }) => canonicalAddress(address).text === canonical)
}

/** Why what the Node lists does not count, for a verdict. */
export function whyNotProtected(facts: ReadFacts, nodeName: string): string {
  return facts.protection?.inForce && !isUnder(facts, nodeName)
    ? '; the Node is older than the protection, so its addresses may be its own word (trustOlderNodes)'
    : ''
}

function isUnder({ policy, protection, claims }: ReadFacts, nodeName: string): boolean {
  if (policy?.trustOlderNodes) return true
  const created = claims.created(nodeName)
  return protection?.inForce === true && created !== undefined && created >= protection.since + settling
}

/** Whether the node's pool wants this level, and nothing stronger proves all that is asked for. */
function isNeeded(facts: ReadFacts, nodeName: string, sans: readonly RequestedSan[]): boolean {
  const { evidence } = termsOf(facts)
  if (evidence !== 'ProtectedNodeStatus') return false
  const stronger = (facts.evidence ?? []).filter(({ level }) => strengthOf(level) > strengthOf(evidence))
  return !sans.every(({ canonical }) =>
    stronger.some(provider => {
      const answer = provider.evidence(nodeName, sans)
      return 'proven' in answer && answer.proven.has(canonical)
    }),
  )
}
