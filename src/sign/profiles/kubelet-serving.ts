import { signerNames } from '../../kube/types.ts'
import { commonName, organizations } from '../../x509/name.ts'
import { firstRefusal, type Profile, sameUsages } from '../profile.ts'

/** C-30. The order decides which message is reported. */
export const kubeletServing: Profile = {
  signerName: signerNames.kubeletServing,
  refusal({ subject, subjectAltName: san }, usages) {
    const [organization, ...more] = organizations(subject)
    return firstRefusal([
      [organization === 'system:nodes' && more.length === 0, 'subject organization is not system:nodes'],
      [san.dnsNames.length + san.ipAddresses.length > 0, 'DNS or IP subjectAltName is required'],
      [san.emailAddresses.length === 0, 'Email subjectAltNames are not allowed'],
      [san.uris.length === 0, 'URI subjectAltNames are not allowed'],
      [
        sameUsages(usages, ['digital signature', 'key encipherment', 'server auth']) ||
          sameUsages(usages, ['digital signature', 'server auth']),
        'usages did not match [digital signature key encipherment server auth]',
      ],
      [
        commonName(subject).startsWith('system:node:'),
        'subject common name does not begin with system:node:',
      ],
    ])
  },
}
