import { formatAge, formatTime } from '../../kube/time-format.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { formatName } from '../../x509/name.ts'
import { readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'

const day = 86_400_000
/** A rotation takes weeks, so half a year is the time to begin. */
const early = 180 * day
/** Or a tenth of the life of a CA that lives less. */
const earlyShare = 0.1

export const i11: Check = {
  meta: {
    id: 'I11',
    severity: 'critical',
    title: 'The CA is valid for long enough',
    failureTitle: 'The CA ends soon or has ended',
    symptom:
      'First certificates are cut off by its end; then nothing is signed or believed any more, all at once.',
    description:
      'Less than half a year of its life is left (less than a tenth for a CA that lives shorter). No certificate outlives it, and changing it takes a new CA to reach every node and every pod first.',
    remedy: 'Begin to rotate the CA now.',
    explains: ['D07', 'E11', 'I09', 'A20', 'G07'],
    reports: ['kubernetes/kubernetes#102283'],
  },
  views: [
    view({
      requiredArtifacts: ['rootCertificates'],
      optionalArtifacts: ['clientTrust'],
      audit({ rootCertificates, clientTrust }, now) {
        const texts = new Map<string, string>()
        for (const { pem, namespace } of rootCertificates) {
          if (pem !== undefined && !texts.has(pem)) texts.set(pem, `ConfigMap ${namespace}/kube-root-ca.crt`)
        }
        if (clientTrust && !texts.has(clientTrust))
          texts.set(clientTrust, 'ConfigMap kube-system/extension-apiserver-authentication')
        const authorities = [...texts].flatMap(([pem, place]) => {
          const { certificates } = readBundle(pem)
          // Where a later CA is in the same bundle, a rotation is on its way.
          const last = certificates.toSorted((a, b) => b.notAfter - a.notAfter)[0]
          return last ? [{ ca: last, place }] : []
        })
        const distinct = new Map(authorities.map(entry => [sha256Hex(entry.ca.raw), entry]))
        return [...distinct.values()].flatMap(({ ca, place }) => {
          const left = ca.notAfter - now
          if (left > Math.min(early, (ca.notAfter - ca.notBefore) * earlyShare)) return []
          const name = formatName(ca.subject)
          return {
            object: `CA ${name}`,
            // Only what has ended accounts for what does not work.
            everywhere: left < 0,
            severity: left > 30 * day ? ('warning' as const) : ('critical' as const),
            evidence: [{ value: `${name} ends ${formatTime(ca.notAfter)}`, source: place }],
            cause: left < 0 ? `It ended ${formatAge(-left)} ago.` : `It has ${formatAge(left)} left.`,
            fix: [
              {
                run: 'rollcall certs show /etc/kubernetes/pki/ca.crt',
                purpose:
                  'on a control-plane node: the CA to rotate; publish the new one beside it before it issues anything',
              },
            ],
            verify: { run: 'rollcall doctor', purpose: 'finds nothing any more' },
          }
        })
      },
    }),
  ],
}
