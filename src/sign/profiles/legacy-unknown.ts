import { signerNames } from '../../kube/types.ts'
import type { Profile } from '../profile.ts'

/** C-32: signs whatever was approved. certificates.k8s.io/v1 refuses to create such requests. */
export const legacyUnknown: Profile = {
  signerName: signerNames.legacyUnknown,
  refusal: () => undefined,
}
