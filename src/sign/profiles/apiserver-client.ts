import { signerNames } from '../../kube/types.ts'
import type { Profile } from '../profile.ts'

const clientAuth = 'client auth'
const optional: readonly string[] = ['digital signature', 'key encipherment']

/** C-32: subject and SANs are free; system:masters is refused at admission. */
export const apiserverClient: Profile = {
  signerName: signerNames.apiserverClient,
  refusal(_request, usages) {
    const invalid = usages.find(usage => usage !== clientAuth && !optional.includes(usage))
    if (invalid !== undefined) return `invalid usage for client certificate: ${invalid}`
    return usages.includes(clientAuth)
      ? undefined
      : `missing required usage for client certificate: ${clientAuth}`
  },
}
