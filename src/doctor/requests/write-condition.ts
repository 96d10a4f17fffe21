import { isStatus, type KubeClient } from '../../kube/client.ts'
import { formatTime } from '../../kube/time-format.ts'
import { type CertificateSigningRequest, type CsrCondition, resources } from '../../kube/types.ts'

/** How often a write that met another's is tried again; as kubectl does. */
const TRIES = 10

/**
 * Appends the condition that `decide` gives and writes it to the approval subresource, as `kubectl certificate` does
 * . On a conflict the request is read and decided anew. `decide` gives undefined when nothing is to be written.
 */
export async function writeCondition(
  client: KubeClient,
  csr: CertificateSigningRequest,
  now: number,
  decide: (csr: CertificateSigningRequest) => Pick<CsrCondition, 'type' | 'reason' | 'message'> | undefined,
): Promise<void> {
  let current = csr
  for (let left = TRIES; ; left--) {
    const decided = decide(current)
    if (!decided) return
    const condition: CsrCondition = { ...decided, status: 'True', lastUpdateTime: formatTime(now) }
    // Only a first approval that has lapsed is ever replaced.
    const others = (current.status?.conditions ?? []).filter(({ type }) => type !== condition.type)
    const conditions = [...others, condition]
    const changed = { ...current, status: { ...current.status, conditions } }
    try {
      await client.update(resources.certificateSigningRequests, changed, { subresource: 'approval' })
      return
    } catch (error) {
      if (!isStatus(error, 'Conflict') || left <= 1) throw error
      current = await client.get(resources.certificateSigningRequests, { name: csr.metadata.name })
      // What was looked at is gone; another request took its name, perhaps just for this.
      if (current.metadata.uid !== csr.metadata.uid) throw error
    }
  }
}
