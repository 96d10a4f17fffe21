/**
 * What the embedded API trusts, presents and signs with is one ConfigMap. Who could write it would bring back a CA that was
 * dropped, whose key may be stolen: it takes the rights that a rotation of every role takes. It is never deleted: without it
 * the first CA would be in force again, and whoever has a certificate of a later one shut out.
 */
import { roleSigners, rolloverState } from '../../../kube/admission/rotation-writers.ts'
import type { AdmissionRequest, Attributes, Decision } from '../access.ts'
import { mayForSigner } from './certificate-requests.ts'
import { refuse } from './refuse.ts'

/** On create, update and delete. Throws ApiError 403. */
export function guardRolloverState(
  request: AdmissionRequest,
  authorize: (attributes: Attributes) => Decision,
): void {
  const { operation, group, resource, namespace, name, object, user } = request
  if (group !== '' || resource !== 'configmaps' || namespace !== rolloverState.namespace) return
  if ((name || object?.metadata.name) !== rolloverState.name) return
  if (operation === 'DELETE')
    throw refuse(request, 'it says which CAs are in force; a rotation (rollcall ca) changes that')
  const signers = Object.values(roleSigners).flat()
  if (!signers.every(signer => mayForSigner(authorize, user, 'sign', signer)))
    throw refuse(
      request,
      'it says which CAs are in force: needs verb sign on the signers of every role (certificates.k8s.io)',
    )
}
