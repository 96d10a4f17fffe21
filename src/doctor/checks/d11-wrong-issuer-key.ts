import { certificateSignatureIsValid } from '../../x509/certificate.ts'
import { formatName } from '../../x509/name.ts'
import { describe, readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { wholeCertificate } from '../issued-facts.ts'
import { latestIssued } from '../node-certificates.ts'

export const d11: Check = {
  meta: {
    id: 'D11',
    severity: 'warning',
    title: 'The signer signs with the CA that is published',
    failureTitle: 'The signer signs with another key than the published CA of the same name',
    symptom:
      '"x509: certificate signed by unknown authority (possibly because of crypto/rsa: verification error)".',
    description:
      'The issuer of the certificate has the name of a published CA, but its key did not sign it: the CA was made anew under the old name, and signer and trust hold different ones.',
    remedy: 'Give the signer the published CA, or publish the one that signs beside it.',
    explains: ['E14', 'G10'],
    reports: ['kubernetes/kubernetes#102283'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'rootCertificates'],
      audit({ requests, rootCertificates }, now) {
        const texts = new Set(rootCertificates.flatMap(({ pem }) => pem ?? []))
        const roots = [...texts].flatMap(pem => readBundle(pem).certificates)
        const latest = [...latestIssued(requests, 'client'), ...latestIssued(requests, 'serving')]
        return latest.flatMap(({ node, certificate, request }) => {
          const named = roots.filter(
            ({ subject }) => Buffer.compare(subject.raw, certificate.issuer.raw) === 0,
          )
          if (now > certificate.notAfter || named.length === 0) return []
          const whole = wholeCertificate(request.csr)
          if (named.some(root => certificateSignatureIsValid(whole, root))) return []
          return {
            object: `CertificateSigningRequest ${request.name}`,
            node,
            evidence: [
              {
                value: `issuer ${formatName(certificate.issuer)}, not signed by its key`,
                source: `CertificateSigningRequest ${request.name} status.certificate`,
              },
              { value: named.map(describe).join('; '), source: 'ConfigMap kube-root-ca.crt' },
            ],
            cause: `Two CAs are called ${formatName(certificate.issuer)}.`,
            fix: [
              {
                run: 'openssl x509 -noout -fingerprint -sha256 -in /etc/kubernetes/pki/ca.crt',
                purpose: 'on each control-plane node: which CA does the signer have?',
              },
            ],
            verify: { run: 'rollcall doctor', purpose: 'finds nothing any more' },
          }
        })
      },
    }),
  ],
}
