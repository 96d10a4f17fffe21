import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'

export const d04: Check = {
  meta: {
    id: 'D04',
    severity: 'critical',
    title: 'CA certificate and key of the signer belong together',
    failureTitle: 'The key of the signer is not that of its CA certificate',
    symptom: 'kube-controller-manager does not start, or goes on signing with the pair it had.',
    description:
      'The public keys of the certificate and of the key file differ: a change of the CA was done by half, or a file was restored.',
    remedy: 'Put the pair that belongs together back.',
    explains: ['D01'],
  },
  views: [
    view({
      requiredArtifacts: ['signingFiles'],
      audit: ({ signingFiles: { certificate, key, keyMatches } }) =>
        keyMatches !== false
          ? []
          : [
              {
                object: key,
                evidence: [
                  {
                    value: 'the public keys of certificate and key differ',
                    source: `${certificate}, ${key}`,
                  },
                ],
                cause: 'Certificate and key come from two CAs.',
                fix: [
                  {
                    run: `openssl x509 -noout -pubkey -in ${shellWord(certificate)} && openssl pkey -pubout -in ${shellWord(key)}`,
                    purpose: 'on the control-plane node: shows both; put the fitting file back',
                  },
                ],
                verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
              },
            ],
    }),
  ],
}
