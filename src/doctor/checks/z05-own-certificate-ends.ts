import { formatAge } from '../../kube/time-format.ts'
import { describe, readBundle, usedLife } from '../certificates.ts'
import { type Check, view } from '../check.ts'

export const z05: Check = {
  meta: {
    id: 'Z05',
    severity: 'warning',
    title: 'Our own credential is good for a while',
    failureTitle: 'The credential in use here ends soon',
    symptom: 'The operator is locked out at the worst moment.',
    description: 'More than nine tenths of the life of the client certificate in this kubeconfig are over.',
    remedy: 'Renew the kubeconfig.',
    reports: ['kubernetes/kops#12032'],
  },
  views: [
    view({
      requiredArtifacts: ['ownCertificate'],
      audit({ ownCertificate }, now) {
        const [own] = readBundle(ownCertificate).certificates
        if (!own || usedLife(own, now) < 0.9) return []
        const left = own.notAfter - now
        return [
          {
            object: 'our own client certificate',
            evidence: [{ value: describe(own), source: 'the kubeconfig in use' }],
            cause: left < 0 ? `It ended ${formatAge(-left)} ago.` : `It ends in ${formatAge(left)}.`,
            fix: [
              {
                run: 'kubeadm certs renew admin.conf',
                purpose: 'on a control-plane node; rollcall up renews its own at each start',
              },
            ],
            verify: { run: 'kubectl auth whoami', purpose: 'is answered' },
          },
        ]
      },
    }),
  ],
}
