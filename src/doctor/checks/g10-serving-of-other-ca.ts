import { shellWord } from '../../survey/explanation.ts'
import { isKubeletSelfSigned } from '../../survey/serving-probes/serving-state.ts'
import { verifyChain } from '../../x509/certificate.ts'
import { describe, readBundle, readChain } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { probeAgain } from '../commands.ts'
import { probedAt, unanswered } from '../probe-facts.ts'

export const g10: Check = {
  meta: {
    id: 'G10',
    severity: 'warning',
    title: 'Serving certificates chain to the CA that the cluster publishes',
    failureTitle: 'A node serves a certificate of another CA than the cluster publishes',
    symptom: 'Some clients of the node work and others end with "unknown authority".',
    description:
      'Verifies what the node serves against kube-root-ca.crt, which is what pods such as metrics-server have. Kubernetes does not promise that kubelets are certified by that CA; a cluster with a CA of its own for them must publish it otherwise.',
    remedy:
      'Publish the bundle that clients need, or have the serving certificate issued by the CA that they have.',
    reports: ['okd-project/okd#1640'],
  },
  views: [
    view({
      requiredArtifacts: ['probes', 'rootCertificates'],
      unseen: unanswered,
      audit({ probes, rootCertificates }, now) {
        const texts = new Set(rootCertificates.flatMap(({ pem }) => pem ?? []))
        const roots = [...texts].flatMap(pem => readBundle(pem).certificates)
        return probes.flatMap(probe => {
          const chain = readChain(probe.chain).certificates
          const [leaf] = chain
          if (!leaf || isKubeletSelfSigned(leaf) || now > leaf.notAfter || now < leaf.notBefore) return []
          const verdict = verifyChain(chain, roots, { now, usage: 'serverAuth' })
          if (verdict.ok) return []
          return {
            object: `Node ${probe.node}`,
            node: probe.node,
            evidence: [
              { value: `${describe(leaf)}: ${verdict.reason}`, ...probedAt(probe) },
              {
                value: roots.map(describe).join('; ') || 'no certificate',
                source: 'ConfigMap kube-root-ca.crt',
              },
            ],
            cause: 'It does not chain to kube-root-ca.crt.',
            fix: [
              {
                run: `rollcall certs show ${shellWord(`${probe.host}:${probe.port}`)}`,
                purpose: 'shows the issuer to publish',
              },
            ],
            verify: probeAgain,
          }
        })
      },
    }),
  ],
}
