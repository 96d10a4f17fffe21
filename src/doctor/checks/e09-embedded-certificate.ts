import { formatTime } from '../../kube/time-format.ts'
import { shellWord } from '../../survey/explanation.ts'
import { describe, readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { restartKubelet } from '../commands.ts'
import { currentName, currentPair, leafOf } from '../pair-files.ts'

export const e09: Check = {
  meta: {
    id: 'E09',
    severity: 'critical',
    title: 'The kubeconfig follows the renewals',
    failureTitle: 'The kubeconfig holds an old certificate instead of following the renewals',
    symptom: 'All works until the kubelet restarts; then it presents an expired certificate.',
    description:
      'The kubeconfig has `client-certificate-data`, or names another file than current.pem, so renewed pairs are not used after a restart. kubeadm wrote it so on the first control-plane node.',
    remedy: 'Let client-certificate and client-key name current.pem.',
    explains: ['E11'],
    reports: [
      'kubernetes/kubernetes#71825',
      'kubernetes/kubeadm#1317',
      'kubernetes/kubeadm#1753',
      'kubernetes/kubernetes#99645',
    ],
  },
  views: [
    view({
      requiredArtifacts: ['kubeconfig', 'certDirectory'],
      audit({ kubeconfig, certDirectory }) {
        const [held] = readBundle(kubeconfig.certificate ?? '').certificates
        const current = leafOf(currentPair(certDirectory, 'client'))
        if (kubeconfig.credential !== 'certificate' || !held || !current) return []
        if (held.notBefore >= current.notBefore) return []
        const path = `${certDirectory.path}/${currentName('client')}`
        return [
          {
            object: kubeconfig.path,
            everywhere: true,
            evidence: [
              {
                value: describe(held),
                source: `${kubeconfig.path} ${kubeconfig.certificateFile ?? 'client-certificate-data'}`,
              },
              { value: `valid to ${formatTime(current.notAfter)}`, source: path },
            ],
            cause: kubeconfig.certificateFile
              ? `The kubeconfig names ${kubeconfig.certificateFile}, not current.pem.`
              : 'The kubeconfig embeds the first certificate.',
            fix: [
              {
                run: `kubectl config --kubeconfig ${shellWord(kubeconfig.path)} set-credentials default-auth --client-certificate=${shellWord(path)} --client-key=${shellWord(path)}`,
                purpose: 'on the node; take the name of the user from the kubeconfig',
              },
              restartKubelet,
            ],
            verify: {
              run: `grep client-certificate ${shellWord(kubeconfig.path)}`,
              purpose: 'shows the path',
            },
          },
        ]
      },
    }),
  ],
}
