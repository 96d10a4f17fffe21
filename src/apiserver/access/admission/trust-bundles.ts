/** ClusterTrustBundleAttest (T-1): who publishes trust anchors in a signer's name needs the right to speak for it. */
import type { KubeObject } from '../../../kube/types.ts'
import type { AdmissionRequest, Attributes, Decision } from '../access.ts'
import { quoted } from '../go-quote.ts'
import { mayForSigner } from './certificate-requests.ts'
import { refuse } from './refuse.ts'
import { semanticallyEqual } from './semantically-equal.ts'

type Bundle = KubeObject & { spec?: { signerName?: string } }

const signerOf = (object: KubeObject | undefined) => (object as Bundle | undefined)?.spec?.signerName ?? ''

/** The garbage collector changes finalizers and owners only; it need not speak for anybody. */
function changesOnlyOwnership(next: KubeObject | undefined, previous: KubeObject | undefined): boolean {
  const rest = (object: KubeObject | undefined) => {
    const {
      finalizers: _finalizers,
      ownerReferences: _owners,
      ...metadata
    } = object?.metadata ?? { name: '' }
    return { ...object, metadata }
  }
  return semanticallyEqual(rest(next), rest(previous))
}

/** On create and update of a bundle with a signerName. Throws ApiError 403. */
export function guardAttestation(
  request: AdmissionRequest,
  authorize: (attributes: Attributes) => Decision,
): void {
  const { operation, object, oldObject, user } = request
  if (operation === 'DELETE') return
  const signerName = signerOf(object)
  if (operation === 'UPDATE') {
    if (changesOnlyOwnership(object, oldObject)) return
    if (signerName !== signerOf(oldObject)) throw refuse(request, 'changing signerName is forbidden')
  }
  if (signerName === '' || mayForSigner(authorize, user, 'attest', signerName)) return
  throw refuse(request, `user not permitted to attest for signerName ${quoted(signerName)}`)
}
