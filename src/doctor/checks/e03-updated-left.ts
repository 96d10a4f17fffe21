import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { restartKubelet } from '../commands.ts'

export const e03: Check = {
  meta: {
    id: 'E03',
    severity: 'critical',
    title: 'No updated.pem is left behind',
    failureTitle: 'updated.pem was left behind by a crash',
    symptom: 'The kubelet does not start, or keeps an old certificate.',
    description:
      'A new pair is put in place by a link `PREFIX-updated.pem` that is then renamed. A crash in between leaves it there.',
    remedy: 'Remove it; the certificate is asked for again.',
  },
  views: [
    view({
      requiredArtifacts: ['certDirectory'],
      audit: ({ certDirectory: { path, files } }) =>
        files
          .filter(({ name }) => /^kubelet-(client|server)-updated\.pem$/.test(name))
          .map(({ name, kind }) => ({
            object: `${path}/${name}`,
            evidence: [{ value: `a ${kind}`, source: `${path}/${name}` }],
            cause: 'The node stopped between writing a new pair and putting it in place.',
            fix: [
              { run: `rm ${shellWord(path)}/${shellWord(name)}`, purpose: 'on the node' },
              restartKubelet,
            ],
            verify: { run: `ls -l ${shellWord(path)}`, purpose: 'shows no updated.pem' },
          })),
    }),
  ],
}
