import { sha256Hex } from '../../x509/fingerprint.ts'
import { formatName } from '../../x509/name.ts'
import { readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'

export const i09: Check = {
  meta: {
    id: 'I09',
    severity: 'critical',
    title: 'Trust bundles hold CA certificates, each once',
    failureTitle: 'A trust bundle holds what does not belong there',
    symptom: 'Programs that read the bundle strictly refuse all of it; others trust an expired CA or a leaf.',
    description:
      'A bundle that was put together by hand may hold a certificate twice, one that is no CA, one that has expired, or one that cannot be parsed.',
    remedy: 'Write the bundle anew with the CAs that are in use.',
    explains: ['I03'],
  },
  views: [
    view({
      requiredArtifacts: ['rootCertificates'],
      optionalArtifacts: ['clientTrust', 'clusterInfo'],
      audit({ rootCertificates, clientTrust, clusterInfo }, now) {
        const places = new Map<string, string>()
        for (const { namespace, pem } of rootCertificates) {
          if (pem !== undefined && !places.has(pem))
            places.set(pem, `ConfigMap ${namespace}/kube-root-ca.crt`)
        }
        const more = [
          [clientTrust, 'ConfigMap kube-system/extension-apiserver-authentication client-ca-file'],
          [clusterInfo?.certificateAuthority, 'ConfigMap kube-public/cluster-info'],
        ] as const
        const bundles = [...places, ...more.filter(([pem]) => pem !== undefined)]
        return bundles.flatMap(([pem, place]) => {
          const problems = problemsOf(pem ?? '', now)
          if (problems.length === 0) return []
          return {
            object: place,
            severity: problems.some(({ harmful }) => harmful) ? ('critical' as const) : ('warning' as const),
            evidence: problems.map(({ text }) => ({ value: text, source: place })),
            cause: 'The bundle was put together by hand, or a CA that has ended was not taken out.',
            fix: [
              {
                run: `rollcall certs show bundle.crt`,
                purpose: 'shows each certificate of a bundle in a file',
              },
            ],
            verify: { run: 'rollcall doctor', purpose: 'finds nothing any more' },
          }
        })
      },
    }),
  ],
}

function problemsOf(pem: string, now: number): { text: string; harmful: boolean }[] {
  const { certificates, unreadable } = readBundle(pem)
  const problems = unreadable.map(text => ({ text, harmful: true }))
  if (certificates.length === 0) problems.push({ text: 'no certificate', harmful: true })
  const seen = new Set<string>()
  for (const { raw, subject, basicConstraints, notAfter } of certificates) {
    const name = formatName(subject)
    const fingerprint = sha256Hex(raw)
    if (seen.has(fingerprint)) problems.push({ text: `${name} is there twice`, harmful: false })
    seen.add(fingerprint)
    if (!basicConstraints?.ca) problems.push({ text: `${name} is no CA`, harmful: true })
    // Alone it is the CA that everything hangs on, which is another finding (I11).
    if (now > notAfter && certificates.length > 1)
      problems.push({ text: `${name} has expired`, harmful: false })
  }
  return problems
}
