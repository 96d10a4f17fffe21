import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { createToken, restartKubelet } from '../commands.ts'
import { currentPairs } from '../pair-files.ts'

export const e01: Check = {
  meta: {
    id: 'E01',
    severity: 'critical',
    title: 'current.pem leads to a file',
    failureTitle: 'current.pem is a link that leads nowhere',
    symptom:
      'The kubelet behaves as if it never had a certificate and goes back to its bootstrap credential.',
    description: 'The file behind the link was deleted, or the folder was restored from a backup without it.',
    remedy: 'Remove the link; the node bootstraps anew.',
    explains: ['E21'],
    reports: ['kubernetes/kubernetes#53288'],
  },
  views: [
    view({
      requiredArtifacts: ['certDirectory'],
      audit: ({ certDirectory }) =>
        currentPairs(certDirectory)
          .filter(({ file }) => file.kind === 'symlink' && file.unreadable === 'ENOENT')
          .map(({ path, file }) => ({
            object: path,
            everywhere: true,
            evidence: [{ value: `leads to ${file.target}, which does not exist`, source: path }],
            cause: 'The file that it leads to was deleted or not restored.',
            fix: [{ run: `rm ${shellWord(path)}`, purpose: 'on the node' }, createToken, restartKubelet],
            verify: { run: `rollcall certs show ${shellWord(path)}`, purpose: 'shows a certificate' },
          })),
    }),
  ],
}
