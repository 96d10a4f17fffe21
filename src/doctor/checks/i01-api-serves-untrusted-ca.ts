import { verifyChain } from '../../x509/certificate.ts'
import { describe, readBundle, readChain } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'

export const i01: Check = {
  meta: {
    id: 'I01',
    severity: 'critical',
    title: 'The API server chains to what the cluster publishes',
    failureTitle: 'The API server presents a certificate of a CA that no namespace publishes',
    symptom:
      'Kubelets and pods end with "unknown authority" as soon as they connect anew; nodes go NotReady.',
    description:
      'Verifies what the API server presents against kube-root-ca.crt. None of the published bundles will do: the server was switched to a new CA before anybody was given it. Connections that are open go on, so that it shows only with time.',
    remedy:
      'Put the old serving certificate back, publish both CAs, wait until everybody has them, then switch.',
    explains: ['I05', 'Z07', 'I02'],
    reports: ['okd-project/okd#1881', 'openshift/machine-config-operator#5828'],
  },
  views: [
    view({
      requiredArtifacts: ['apiServing', 'rootCertificates'],
      audit({ apiServing, rootCertificates }, now) {
        const chain = readChain(apiServing.chain).certificates
        const [leaf] = chain
        const texts = new Set(rootCertificates.flatMap(({ pem }) => pem ?? []))
        if (!leaf || texts.size === 0 || now > leaf.notAfter || now < leaf.notBefore) return []
        const bundles = [...texts].map(text => readBundle(text).certificates)
        // Where every published CA has ended it is D03 and I09 that say so.
        if (!bundles.flat().some(({ notAfter }) => now <= notAfter)) return []
        const trusted = bundles.some(roots => verifyChain(chain, roots, { now, usage: 'serverAuth' }).ok)
        if (trusted) return []
        return [
          {
            object: `API server ${apiServing.host}:${apiServing.port}`,
            everywhere: true,
            evidence: [
              { value: describe(leaf), source: `served at ${apiServing.host}:${apiServing.port}` },
              {
                value: bundles.flat().map(describe).join('; ') || 'no certificate',
                source: 'ConfigMaps kube-root-ca.crt',
              },
            ],
            cause: 'The API server was switched to a CA that is not published.',
            fix: [
              {
                run: 'ls -l /etc/kubernetes/pki /etc/kubernetes/tmp',
                purpose: 'on each control-plane node: put the old apiserver.crt and apiserver.key back',
              },
              { run: 'rollcall doctor explain I01', purpose: 'the order in which to go on' },
            ],
            verify: runDoctor,
          },
        ]
      },
    }),
  ],
}
