import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'

export const a18: Check = {
  meta: {
    id: 'A18',
    severity: 'critical',
    title: 'The certificate directory outlives a reboot',
    failureTitle: 'The certificate directory is lost at the next reboot',
    symptom: 'After a reboot the kubeconfig names files that are gone, and the node does not come back.',
    description: '/run, /var/run and /tmp are in memory on most systems.',
    remedy: 'Set --cert-dir=/var/lib/kubelet/pki.',
    reports: ['kubernetes/kubernetes#53288'],
  },
  views: [
    view({
      requiredArtifacts: ['certDirectory'],
      audit: ({ certDirectory: { path } }) =>
        !/^\/(var\/)?run\/|^\/dev\/shm\//.test(path)
          ? []
          : [
              {
                object: path,
                evidence: [{ value: 'a path in memory', source: path }],
                cause: 'The directory is on a file system that a reboot empties.',
                fix: [{ run: 'systemctl edit kubelet', purpose: 'add --cert-dir=/var/lib/kubelet/pki' }],
                verify: { run: `findmnt -T ${shellWord(path)}`, purpose: 'shows the file system' },
              },
            ],
    }),
  ],
}
