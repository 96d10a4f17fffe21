import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { createToken, restartKubelet } from '../commands.ts'
import { currentPairs, leafOf } from '../pair-files.ts'

export const e04: Check = {
  meta: {
    id: 'E04',
    severity: 'critical',
    title: 'current.pem holds a certificate and its key',
    failureTitle: 'current.pem is empty or cut off',
    symptom: 'The kubelet does not start: "could not convert data from ... into cert/key pair".',
    description: 'The machine lost power, or the disk was full, before the file was written out.',
    remedy: 'Let current.pem link to an earlier pair that is still valid, or bootstrap the node anew.',
    reports: ['kubernetes/kubernetes#34956'],
  },
  views: [
    view({
      requiredArtifacts: ['certDirectory'],
      audit: ({ certDirectory }) =>
        currentPairs(certDirectory).flatMap(({ path, file }) => {
          if (file.unreadable !== undefined || (leafOf(file) && file.hasKey)) return []
          const value = leafOf(file) ? 'holds no private key' : `holds no certificate (${file.size} bytes)`
          return {
            object: path,
            evidence: [{ value, source: path }],
            cause: 'The file was not written out whole.',
            fix: [
              {
                run: `ls -lt ${shellWord(certDirectory.path)}`,
                purpose: 'on the node: is there an earlier pair to link to?',
              },
              { run: `rm ${shellWord(path)}`, purpose: 'otherwise' },
              createToken,
              restartKubelet,
            ],
            verify: { run: `rollcall certs show ${shellWord(path)}`, purpose: 'shows a certificate' },
          }
        }),
    }),
  ],
}
