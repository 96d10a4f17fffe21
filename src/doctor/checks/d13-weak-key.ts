import { type Check, view } from '../check.ts'
import { watchRequests } from '../commands.ts'
import { isWeakKey, isWeakSignature } from '../weak-crypto.ts'

export const d13: Check = {
  meta: {
    id: 'D13',
    severity: 'warning',
    title: 'Issued certificates have strong keys',
    failureTitle: 'A certificate was issued for a weak key or with a weak signature',
    symptom: 'Newer clients refuse the certificate during the TLS handshake.',
    description:
      'RSA below 2048 bits, P-224, and signatures with SHA-1 or MD5 are refused by current TLS libraries.',
    remedy:
      'Have the node make a new key, ECDSA P-256 for instance; change the CA where its signatures are weak.',
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit: ({ requests }, now) =>
        requests.flatMap(({ issued, name, node }) => {
          if (!issued?.ok || now > issued.value.notAfter) return []
          const { keyType, signatureAlgorithm } = issued.value
          const weakKey = isWeakKey(keyType)
          if (!weakKey && !isWeakSignature(signatureAlgorithm)) return []
          return {
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              {
                value: `key ${keyType}, signature ${signatureAlgorithm}`,
                source: `CertificateSigningRequest ${name} status.certificate`,
              },
            ],
            cause: weakKey ? `The key, ${keyType}, is too weak.` : `The CA signs with ${signatureAlgorithm}.`,
            fix: [
              {
                run: 'rm /var/lib/kubelet/pki/kubelet-server-*.pem && systemctl restart kubelet',
                purpose: 'on the node: makes a new key and asks again',
              },
            ],
            verify: watchRequests,
          }
        }),
    }),
  ],
}
