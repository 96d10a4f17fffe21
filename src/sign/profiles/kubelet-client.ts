import { signerNames } from '../../kube/types.ts'
import { commonName, organizations } from '../../x509/name.ts'
import { firstRefusal, type Profile, sameUsages } from '../profile.ts'

/** C-31. An empty node name passes here as in Kubernetes; approval refuses it. */
export const kubeletClient: Profile = {
  signerName: signerNames.kubeletClient,
  refusal({ subject, subjectAltName: san }, usages) {
    const [organization, ...more] = organizations(subject)
    return firstRefusal([
      [organization === 'system:nodes' && more.length === 0, 'subject organization is not system:nodes'],
      [san.dnsNames.length === 0, 'DNS subjectAltNames are not allowed'],
      [san.emailAddresses.length === 0, 'Email subjectAltNames are not allowed'],
      [san.ipAddresses.length === 0, 'IP subjectAltNames are not allowed'],
      [san.uris.length === 0, 'URI subjectAltNames are not allowed'],
      [
        commonName(subject).startsWith('system:node:'),
        'subject common name does not begin with system:node:',
      ],
      [
        sameUsages(usages, ['digital signature', 'key encipherment', 'client auth']) ||
          sameUsages(usages, ['digital signature', 'client auth']),
        'usages did not match [client auth digital signature key encipherment]',
      ],
    ])
  },
}
