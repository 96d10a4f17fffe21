import type { KubeNode } from '../../kube/types.ts'
import { canonicalAddress, canonicalIp } from '../canonical-name.ts'
import { embeddedIpv4 } from '../embedded-ipv4.ts'
import { assess, type SanAssessment } from '../evidence/assessment.ts'
import type { EvidenceLevel } from '../evidence/level.ts'
import type { ReadFacts, Reservation } from '../facts.ts'
import { rangeAround, sixteen } from '../ip-range.ts'
import { controlPlaneLabel } from '../node-labels.ts'
import { type ApprovalPolicy, defaultClusterDomain } from '../policy.ts'
import { reservedAddress } from '../reserved-address.ts'
import { deny, type Rule } from '../rule.ts'

export const noReservedName: Rule<ReadFacts> = {
  name: 'NoReservedName',
  sentence:
    "No SAN is a wildcard, a name or address of the cluster itself, or an address that is every host's.",
  only: 'serving',
  check(facts) {
    for (const assessed of assess(facts).sans) {
      const { san } = assessed
      const why =
        san.kind === 'DNS' ? reservedDns(san.canonical, facts) : reservedIp(assessed, san.bytes, facts)
      if (why) return deny('ReservedName', `SAN ${san.shown} is ${why}; a node is never certified for it`)
    }
    return undefined
  },
}

function reservedDns(name: string, { policy, reserved }: ReadFacts): string | undefined {
  if (name.includes('*')) return 'a wildcard'
  if (name === 'localhost' || name.endsWith('.localhost')) return 'a name of every host'
  if (name === 'kubernetes' || name === 'kubernetes.default' || /(^|\.)svc$/.test(name))
    return 'the name of a service of the cluster'
  const domain = (policy?.clusterDomain ?? defaultClusterDomain).toLowerCase()
  if (name === domain || name.endsWith(`.${domain}`)) return `in the cluster domain ${domain}`
  if (isApiServer(name, policy)) return 'the name of an API server'
  return reserved?.find(name)?.what
}

/** Also when the address is only another form of a reserved one: who holds `64:ff9b::7f00:1` is reached as 127.0.0.1. */
function reservedIp(assessed: SanAssessment, bytes: Uint8Array, facts: ReadFacts): string | undefined {
  const why = reservedBytes(assessed, assessed.san.canonical, bytes, facts)
  if (why) return why
  for (const inside of embeddedIpv4(bytes)) {
    const canonical = canonicalIp(inside.bytes)
    const hidden = reservedBytes(assessed, canonical, inside.bytes, facts)
    if (hidden) return `${inside.form} for ${canonical}, ${hidden}`
  }
  return undefined
}

function reservedBytes(
  assessed: SanAssessment,
  canonical: string,
  address: Uint8Array,
  { policy, reserved, node }: ReadFacts,
): string | undefined {
  const bytes = sixteen(address)
  const service = rangeAround(policy?.serviceRanges, bytes)
  if (service) return `in the service range ${service}`
  const pods = rangeAround(policy?.podRanges, bytes)
  if (pods) return `in the pod range ${pods}`
  if (isApiServer(canonical, policy)) return 'the address of an API server'
  const allowed = rangeAround(policy?.allowedRanges, bytes) !== undefined
  const everyHosts = reservedAddress(bytes)
  if (everyHosts && !allowed) return `${everyHosts} address`
  const found = reserved?.find(canonical, bytes)
  if (!found || isLifted(found, assessed, allowed, node)) return undefined
  return found.what
}

/**
 * Service addresses are never a node's. What a Service publishes may be one (klipper, externalIPs), and an API server on
 * a host has the address of its Node: there the cluster's own word counts, or evidence that no node can make up.
 */
function isLifted(
  { kind }: Reservation,
  { proofs }: SanAssessment,
  allowed: boolean,
  node: KubeNode | undefined,
): boolean {
  if (kind === 'own') return false
  const has = (level: EvidenceLevel) => proofs.some(proof => proof.level === level)
  if (has('Inventory')) return true
  if (kind === 'apiServer') return node?.metadata.labels?.[controlPlaneLabel] !== undefined
  // Whoever may write a Service must not be able to stop the renewal of a node's certificate.
  return allowed || has('LiveCertificate')
}

function isApiServer(canonical: string, policy: ApprovalPolicy | undefined): boolean {
  return policy?.apiServers?.some(name => canonicalAddress(name).text === canonical) ?? false
}
