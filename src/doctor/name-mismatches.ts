import { namesIn } from '../survey/requested-names.ts'
import type { Certificate } from '../x509/certificate.ts'
import { verifyHostname } from '../x509/hostname.ts'
import type { NodeProbe } from './artifacts.ts'
import { probeAgain, restartKubelet } from './commands.ts'
import type { Finding } from './finding.ts'
import { probedAt, probedLeaves } from './probe-facts.ts'

/** Nodes whose certificate is not for the address that was dialled, in the words of a client, where `applies` says so. */
export function nameMismatches(
  probes: readonly NodeProbe[],
  cause: string,
  applies: (leaf: Certificate, host: string) => boolean,
): Finding[] {
  return probedLeaves(probes).flatMap(({ probe, leaf }) => {
    const verdict = verifyHostname(leaf, probe.host)
    if (verdict.ok || !applies(leaf, probe.host)) return []
    const names = namesIn(leaf.subjectAltName).join(', ') || 'no names'
    return {
      object: `Node ${probe.node}`,
      node: probe.node,
      evidence: [
        { value: `SANs ${names}`, source: probedAt(probe) },
        { value: verdict.reason, source: `as a client of ${probe.host} would say` },
      ],
      cause,
      fix: [restartKubelet],
      verify: probeAgain,
    }
  })
}
