import { type Certificate, certificateSignatureIsValid } from '../../x509/certificate.ts'
import { describe, readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'
import { wholeCertificate } from '../issued-facts.ts'
import { latestIssued } from '../node-certificates.ts'

export const i18: Check = {
  meta: {
    id: 'I18',
    severity: 'warning',
    title: 'Our own certificate is of the CA that signs now',
    failureTitle: 'Our own certificate is of a CA that does not sign any more',
    symptom: 'Nothing yet; when the old CA is taken out of client-ca-file, this kubeconfig gets 401.',
    description:
      'The API trusts several CAs, and our client certificate was issued by another one than the newest certificate of a node: a change of the CA is under way, and the kubeconfigs of administrators are easily forgotten.',
    remedy: 'Have the kubeconfigs of administrators issued anew before the old CA is distrusted.',
    reports: ['kubernetes/kops#12032'],
  },
  views: [
    view({
      requiredArtifacts: ['ownCertificate', 'clientTrust', 'requests'],
      audit({ ownCertificate, clientTrust, requests }) {
        const [own] = readBundle(ownCertificate).certificates
        const roots = readBundle(clientTrust).certificates
        const newest = latestIssued(requests, 'client').sort(
          (a, b) => b.certificate.notBefore - a.certificate.notBefore,
        )[0]
        const ours = own && issuerAmong(roots, own)
        const theirs = newest && issuerAmong(roots, wholeCertificate(newest.request.csr))
        if (!own || !newest || !ours || !theirs || ours === theirs) return []
        if (newest.certificate.notBefore <= own.notBefore) return []
        return [
          {
            object: 'our own client certificate',
            evidence: [
              { value: `issued by ${describe(ours)}`, source: 'the kubeconfig in use' },
              {
                value: `issued by ${describe(theirs)}`,
                source: `CertificateSigningRequest ${newest.request.name} status.certificate`,
              },
            ],
            cause: 'The CA was changed, and this kubeconfig still has a certificate of the old one.',
            fix: [
              {
                run: 'kubeadm certs renew admin.conf',
                purpose: 'on a control-plane node; copy the new admin.conf',
              },
            ],
            verify: runDoctor,
          },
        ]
      },
    }),
  ],
}

function issuerAmong(roots: readonly Certificate[], leaf: Certificate): Certificate | undefined {
  return roots.find(
    root =>
      Buffer.compare(root.subject.raw, leaf.issuer.raw) === 0 && certificateSignatureIsValid(leaf, root),
  )
}
