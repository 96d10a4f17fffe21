import { sha256Hex } from '../../x509/fingerprint.ts'
import { describe, readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'

export const a09: Check = {
  meta: {
    id: 'A09',
    severity: 'critical',
    title: 'The CA pin is that of a CA in cluster-info',
    failureTitle: 'The CA pin is of none of the CAs in cluster-info',
    symptom: '`kubeadm join`, or the agent with --discovery-ca-pin, refuses the cluster.',
    description:
      'A pin is the SHA-256 of the public key of a CA. Compares the pins that the doctor was given (`doctor node --discovery-ca-pin`) with the CAs in kube-public/cluster-info: the CA was changed, the pin was copied wrongly, or somebody stands in between.',
    remedy: 'Compute the pin anew, on a machine of the control plane.',
  },
  views: [
    view({
      requiredArtifacts: ['joinPins'],
      audit({ joinPins: { server, pins, certificateAuthority } }) {
        const { certificates } = readBundle(certificateAuthority)
        if (certificates.some(({ spki }) => pins.includes(sha256Hex(spki)))) return []
        return [
          {
            object: 'the CA pin of this node',
            everywhere: true,
            evidence: [
              { value: pins.map(pin => `sha256:${pin}`).join(', '), source: '--discovery-ca-pin' },
              ...certificates.map(certificate => ({
                value: `sha256:${sha256Hex(certificate.spki)}: ${describe(certificate)}`,
                source: `ConfigMap kube-public/cluster-info, read from ${server}`,
              })),
            ],
            cause: 'The pin is of another CA than the cluster publishes.',
            fix: [
              {
                run: 'openssl x509 -pubkey -in /etc/kubernetes/pki/ca.crt -noout | openssl pkey -pubin -outform der | sha256sum',
                purpose: 'on a control-plane node: the pin is sha256: and these digits',
              },
            ],
            verify: {
              run: 'rollcall doctor node --discovery-ca-pin sha256:DIGITS',
              purpose: 'finds it no more',
            },
          },
        ]
      },
    }),
  ],
}
