import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { createToken, restartKubelet } from '../commands.ts'
import { currentPairs } from '../pair-files.ts'

export const e05: Check = {
  meta: {
    id: 'E05',
    severity: 'critical',
    title: 'The certificate and the key in current.pem belong together',
    failureTitle: 'The key in current.pem is not that of the certificate',
    symptom: 'The kubelet does not start: "tls: private key does not match public key".',
    description: 'Files of two pairs were mixed, by hand or by a restore.',
    remedy: 'Remove the pair and bootstrap the node anew.',
    reports: ['scality/metalk8s#2937'],
  },
  views: [
    view({
      requiredArtifacts: ['certDirectory'],
      audit: ({ certDirectory }) =>
        currentPairs(certDirectory)
          .filter(({ file }) => file.keyMatches === false)
          .map(({ path }) => ({
            object: path,
            evidence: [{ value: 'the public keys of certificate and key differ', source: path }],
            cause: 'Certificate and key come from two pairs.',
            fix: [{ run: `rm ${shellWord(path)}`, purpose: 'on the node' }, createToken, restartKubelet],
            verify: { run: `rollcall certs show ${shellWord(path)}`, purpose: 'shows the new pair' },
          })),
    }),
  ],
}
