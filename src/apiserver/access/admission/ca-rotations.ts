/** Who changes a CA needs the right to sign with it, and speaks in his own name; others vouch for his plan, not he. */
import { isDeepStrictEqual } from 'node:util'
import {
  notByAuthor,
  roleSigners,
  rotationMessages,
  statementLists,
} from '../../../kube/admission/rotation-writers.ts'
import { type CARotationObject, caRotation, type Statement } from '../../../kube/rollcall/ca-rotation.ts'
import type { AdmissionRequest, Attributes, Decision } from '../access.ts'
import { mayForSigner } from './certificate-requests.ts'
import { refuse } from './refuse.ts'

const fixed = ['role', 'from', 'to', 'reason', 'author'] as const

/** On create, update and delete; status is the controller's. Throws ApiError 403. */
export function guardRotationWrites(
  request: AdmissionRequest,
  authorize: (attributes: Attributes) => Decision,
): void {
  const { group, resource, subresource, operation, user } = request
  if (group !== caRotation.ref.group || resource !== caRotation.ref.plural || subresource !== '') return
  const spec = (request.object as CARotationObject | undefined)?.spec
  const before = (request.oldObject as CARotationObject | undefined)?.spec
  const role = (before ?? spec)?.role
  const signers = role === undefined ? [] : (roleSigners[role] ?? [])
  if (!signers.every(signer => mayForSigner(authorize, user, 'sign', signer)))
    throw refuse(request, rotationMessages.right)
  if (operation === 'DELETE' || !spec) return
  if (operation === 'CREATE' && spec.author !== user.username) throw refuse(request, rotationMessages.author)
  if (before && fixed.some(field => spec[field] !== before[field]))
    throw refuse(request, rotationMessages.fixed)
  const isOwn = (said: Statement, earlier: readonly Statement[] = []) =>
    said.by === user.username || earlier.some(other => isDeepStrictEqual(other, said))
  const foreign = statementLists.some(list => spec[list]?.some(said => !isOwn(said, before?.[list])))
  const { confirmation } = spec
  if (foreign || (confirmation && !isOwn(confirmation, before?.confirmation && [before.confirmation])))
    throw refuse(request, rotationMessages.own)
  if (notByAuthor.some(list => spec[list]?.some(({ by }) => by === spec.author)))
    throw refuse(request, rotationMessages.others)
}
