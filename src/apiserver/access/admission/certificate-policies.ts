/** Who writes a CertificatePolicy decides who is certified: he needs the right to approve for the kubelets' signers. */
import { policyWriterSigners } from '../../../kube/admission/shipped.ts'
import { certificatePolicies } from '../../../kube/rollcall/certificate-policy.ts'
import { nodeIdentities } from '../../../kube/rollcall/node-identity.ts'
import type { AdmissionRequest, Attributes, Decision } from '../access.ts'
import { quoted } from '../go-quote.ts'
import { mayForSigner } from './certificate-requests.ts'
import { refuse } from './refuse.ts'

/** Who approves a machine lets it join. */
const guarded: Readonly<Record<string, string>> = {
  [certificatePolicies.plural]: 'certificate policies',
  [nodeIdentities.plural]: 'node identities',
}

/** On create, update and delete; status is the controllers'. Throws ApiError 403. */
export function guardPolicyWrites(
  request: AdmissionRequest,
  authorize: (attributes: Attributes) => Decision,
): void {
  const { group, resource, subresource, user } = request
  const what = group === certificatePolicies.group && subresource === '' ? guarded[resource] : undefined
  if (!what) return
  for (const signerName of policyWriterSigners)
    if (!mayForSigner(authorize, user, 'approve', signerName))
      throw refuse(
        request,
        `user not permitted to write ${what}: needs verb approve on signers ${quoted(signerName)}`,
      )
}
