import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { restartKubelet } from '../commands.ts'
import { currentPairs } from '../pair-files.ts'

export const e02: Check = {
  meta: {
    id: 'E02',
    severity: 'critical',
    title: 'current.pem is a link',
    failureTitle: 'current.pem is a regular file',
    symptom: 'The kubelet logs "expected ... to be a symlink but it is a file" and stores no renewal.',
    description:
      "A backup or a configuration tool copied the file over the link. The kubelet reads it but cannot replace it, so the certificate is renewed and thrown away. Rollcall's agent mends this by itself.",
    remedy: 'Give the file a name with a time and let current.pem link to it.',
    reports: ['kubernetes/website#28312', 'kubernetes/kubeadm#2502'],
  },
  views: [
    view({
      requiredArtifacts: ['certDirectory'],
      audit: ({ certDirectory }) =>
        currentPairs(certDirectory)
          .filter(({ file }) => file.kind === 'file')
          .map(({ path, file }) => {
            const kept = file.name.replace('-current', '-2000-01-01-00-00-00')
            return {
              object: path,
              evidence: [{ value: `a file of ${file.size} bytes, not a link`, source: path }],
              cause: 'Something copied a file over the link.',
              fix: [
                {
                  run: `cd ${shellWord(certDirectory.path)} && mv ${shellWord(file.name)} ${shellWord(kept)} && ln -s ${shellWord(kept)} ${shellWord(file.name)}`,
                  purpose: 'on the node',
                },
                restartKubelet,
              ],
              verify: { run: `ls -l ${shellWord(path)}`, purpose: 'shows a link' },
            }
          }),
    }),
  ],
}
