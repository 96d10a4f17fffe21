import { shellWord } from '../../survey/explanation.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import type { PublishedRoot } from '../artifacts/cluster-artifacts.ts'
import { readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'

export const i03: Check = {
  meta: {
    id: 'I03',
    severity: 'critical',
    title: 'Every namespace has the same kube-root-ca.crt',
    failureTitle: 'kube-root-ca.crt is missing or differs in a namespace',
    symptom: 'Pods do not start ("configmap kube-root-ca.crt not found"), or end with "unknown authority".',
    description:
      'Every pod trusts the API server by the ConfigMap kube-root-ca.crt of its namespace. The controller root-ca-cert-publisher keeps it; where it does not run, or lags during a rotation of the CA, namespaces differ.',
    remedy:
      'Run root-ca-cert-publisher (kube-controller-manager, or Rollcall); wait before a rotation goes on.',
    reports: ['gardener/gardener#15301', 'gardener/gardener#15430'],
  },
  views: [
    view({
      requiredArtifacts: ['rootCertificates'],
      audit({ rootCertificates }) {
        const usual = mostCommon(rootCertificates.flatMap(({ pem }) => pem ?? []))
        return rootCertificates.flatMap(root => {
          if (root.pem !== undefined && root.pem === usual) return []
          return {
            object: `ConfigMap ${root.namespace}/kube-root-ca.crt`,
            evidence: [
              { value: shown(root.pem), source: `ConfigMap ${root.namespace}/kube-root-ca.crt` },
              ...(usual === undefined
                ? []
                : [{ value: `${shown(usual)} in most namespaces`, source: 'ConfigMaps kube-root-ca.crt' }]),
            ],
            cause: causeOf(root),
            fix: [root.pem === undefined ? startPublisher : deleteIt(root.namespace)],
            verify: runDoctor,
          }
        })
      },
    }),
  ],
}

const startPublisher = {
  run: 'rollcall controller --only root-ca-publishing',
  purpose: 'publishes it; or start kube-controller-manager, which does so by default',
}

const deleteIt = (namespace: string) => ({
  run: `kubectl -n ${shellWord(namespace)} delete configmap kube-root-ca.crt`,
  purpose: 'its controller makes it again, as it should be',
})

function causeOf({ pem }: PublishedRoot): string {
  return pem === undefined
    ? 'The controller that publishes it does not run, or may not write there.'
    : 'The namespace holds another bundle than most: it was changed by hand, or the publisher lags behind.'
}

function mostCommon(texts: readonly string[]): string | undefined {
  const counts = [...Map.groupBy(texts, text => text)].sort(([, a], [, b]) => b.length - a.length)
  return counts[0]?.[0]
}

function shown(pem: string | undefined): string {
  if (pem === undefined) return 'missing'
  const { certificates } = readBundle(pem)
  return certificates.map(({ raw }) => `sha256:${sha256Hex(raw).slice(0, 16)}`).join(', ') || 'no certificate'
}
