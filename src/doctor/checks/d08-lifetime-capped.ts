import { formatAge } from '../../kube/time-format.ts'
import { type Check, view } from '../check.ts'

/** Signers round and backdate; less than nine tenths is no rounding. */
const share = 0.9

export const d08: Check = {
  meta: {
    id: 'D08',
    severity: 'warning',
    title: 'Certificates live as long as was asked for',
    failureTitle: 'A certificate lives much shorter than was asked for',
    symptom: 'Nodes renew more often than planned.',
    description:
      'The signer gives at most its own cap: --cluster-signing-duration of kube-controller-manager, --cert-lifetime of Rollcall. What asks for more gets the cap without a word.',
    remedy: 'Ask for less, or raise the cap.',
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit: ({ requests }, now) =>
        requests.flatMap(({ csr, issued, name, node }) => {
          const asked = (csr.spec.expirationSeconds ?? 0) * 1000
          if (!issued?.ok || asked === 0 || now > issued.value.notAfter) return []
          const life = issued.value.notAfter - issued.value.notBefore
          if (life >= asked * share) return []
          return {
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              {
                value: `asked for ${formatAge(asked)}`,
                source: `CertificateSigningRequest ${name} spec.expirationSeconds`,
              },
              {
                value: `got ${formatAge(life)}`,
                source: `CertificateSigningRequest ${name} status.certificate`,
              },
            ],
            cause: `The signer of ${csr.spec.signerName} caps the lifetime.`,
            fix: [
              {
                run: 'grep -r cluster-signing-duration /etc/kubernetes/manifests',
                purpose: 'on a control-plane node: the cap',
              },
            ],
            verify: { run: 'rollcall certs ls', purpose: 'shows what is issued from then on' },
          }
        }),
    }),
  ],
}
