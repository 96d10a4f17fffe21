import { shellWord } from '../../survey/explanation.ts'
import { describe, readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'

export const d05: Check = {
  meta: {
    id: 'D05',
    severity: 'critical',
    title: 'The signing file holds one certificate',
    failureTitle: 'The signing file holds more than one certificate',
    symptom:
      'Requests show "Approved" and never "Approved,Issued"; "expected 1 certificate, found 2" in a log.',
    description:
      'C-21: the file of --cluster-signing-cert-file must hold exactly one certificate. kubeadm uses the same ca.crt for signing and for trust, so that whoever puts a second CA in for a rotation stops the signer.',
    remedy: 'Keep bundles in client-ca-file and root-ca-file only, and one certificate in the signing file.',
    explains: ['D01'],
  },
  views: [
    view({
      requiredArtifacts: ['signingFiles'],
      audit({ signingFiles: { certificate, certificates } }) {
        const held = readBundle(certificates).certificates
        if (held.length < 2) return []
        return [
          {
            object: certificate,
            evidence: [
              { value: `${held.length} certificates: ${held.map(describe).join('; ')}`, source: certificate },
            ],
            cause: 'A bundle stands where one CA certificate must.',
            fix: [
              {
                run: `openssl x509 -in ${shellWord(certificate)} -out signing-ca.crt`,
                purpose:
                  'on the control-plane node: the first one by itself, for --cluster-signing-cert-file of kube-controller-manager',
              },
            ],
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}
