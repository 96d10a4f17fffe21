/** Who writes a CertificatePolicy decides who is certified: he needs the right to approve for the kubelets' signers. */
import { policyWriterSigners } from '../../../kube/admission/shipped.ts'
import { certificatePolicies } from '../../../kube/rollcall/certificate-policy.ts'
import type { AdmissionRequest, Attributes, Decision } from '../access.ts'
import { quoted } from '../go-quote.ts'
import { mayForSigner } from './certificate-requests.ts'
import { refuse } from './refuse.ts'

/** On create, update and delete; status is the controllers'. Throws ApiError 403. */
export function guardPolicyWrites(
  request: AdmissionRequest,
  authorize: (attributes: Attributes) => Decision,
): void {
  const { group, resource, subresource, user } = request
  if (group !== certificatePolicies.group || resource !== certificatePolicies.plural || subresource !== '')
    return
  for (const signerName of policyWriterSigners)
    if (!mayForSigner(authorize, user, 'approve', signerName))
      throw refuse(
        request,
        `user not permitted to write certificate policies: needs verb approve on signers ${quoted(signerName)}`,
      )
}
