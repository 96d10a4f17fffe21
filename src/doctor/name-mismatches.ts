import { namesIn } from '../survey/requested-names.ts'
import type { Certificate } from '../x509/certificate.ts'
import { verifyHostname } from '../x509/hostname.ts'
import type { NodeProbe } from './artifacts/endpoint-artifacts.ts'
import { type Check, type CheckMeta, view } from './check.ts'
import { probeAgain, restartKubelet } from './commands.ts'
import type { Finding } from './finding.ts'
import { probedAt, probedLeaves } from './probe-facts.ts'

/** A check of serving certificates that are not for the address that clients dial, of those that `applies` picks. */
export function nameCheck(
  meta: Omit<CheckMeta, 'severity' | 'explains' | 'reports'>,
  cause: string,
  applies: (leaf: Certificate, host: string) => boolean,
): Check {
  const reports = [
    'kubernetes/kubernetes#59372',
    'kubernetes/kubernetes#50371',
    'kelseyhightower/kubernetes-the-hard-way#146',
  ]
  return {
    meta: { ...meta, severity: 'critical', explains: ['G06'], reports },
    views: [
      view({
        requiredArtifacts: ['probes'],
        audit: ({ probes }) => nameMismatches(probes, cause, applies),
      }),
    ],
  }
}

/** Nodes whose certificate is not for the address that was dialled, in the words of a client. */
function nameMismatches(
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
        { value: `SANs ${names}`, ...probedAt(probe) },
        { value: verdict.reason, source: `as a client of ${probe.host} would say` },
      ],
      cause,
      fix: [restartKubelet],
      verify: probeAgain,
    }
  })
}
