import { formatAge, formatTime } from '../../kube/time-format.ts'
import { describe, readChain, usedLife } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { showServed } from '../commands.ts'

/** Share of its life after which a certificate that is renewed at all has been renewed (kubelets do by 90 %). */
const overdue = 0.95

export const a20: Check = {
  meta: {
    id: 'A20',
    severity: 'critical',
    title: 'The certificate of the API server is valid',
    failureTitle: 'The certificate of the API server has expired or is about to',
    symptom: 'Every client ends with "x509: certificate has expired or is not yet valid".',
    description:
      'Looks at the leaf that the API server presents. kubeadm issues it for a year and renews it at upgrades only; it is served until kube-apiserver restarts or reloads.',
    remedy: 'Renew it on each control-plane node, then make sure that the new one is served.',
    explains: ['E12'],
    reports: ['kubernetes/kubeadm#2054', 'rancher/rke2#8318'],
  },
  views: [
    view({
      requiredArtifacts: ['apiServing'],
      audit({ apiServing: { chain, host, port } }, now) {
        const [leaf] = readChain(chain).certificates
        if (!leaf) return []
        const early = now < leaf.notBefore
        if (!early && usedLife(leaf, now) < overdue) return []
        const expired = now > leaf.notAfter
        const distance = formatAge(Math.abs((early ? leaf.notBefore : leaf.notAfter) - now))
        return [
          {
            object: `the API server at ${host}:${port}`,
            everywhere: expired || early,
            severity: expired || early ? 'critical' : 'warning',
            evidence: [{ value: describe(leaf), source: `served at ${host}:${port}` }],
            cause: early
              ? `It is valid only from ${formatTime(leaf.notBefore)}, in ${distance}: one of the two clocks is wrong.`
              : expired
                ? `It expired ${distance} ago.`
                : `It expires in ${distance}, and ${Math.floor(usedLife(leaf, now) * 100)} % of its life is over.`,
            fix: [
              {
                run: 'kubeadm certs renew apiserver',
                purpose: 'on each control-plane node; then restart kube-apiserver',
              },
            ],
            verify: showServed(host, port),
          },
        ]
      },
    }),
  ],
}
