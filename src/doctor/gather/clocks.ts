import { RollcallError } from '../../errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { formatTime } from '../../kube/time-format.ts'
import type { KubeObject, ResourceRef } from '../../kube/types.ts'
import type { Clock } from '../../ports.ts'

const selfSubjectReviews: ResourceRef = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
}

/** `kubectl auth whoami`, which everybody may ask: the answer bears the server's time, in whole seconds. */
export async function compareClocks(
  client: KubeClient,
  clock: Clock,
): Promise<{ server: string; local: string }> {
  const before = clock.now()
  const review: KubeObject = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: { name: '' },
  }
  const { metadata } = await client.create(selfSubjectReviews, review)
  const local = (before + clock.now()) / 2
  if (!metadata.creationTimestamp)
    throw new RollcallError('API_STATUS', 'the API does not tell its time in SelfSubjectReview')
  return { server: metadata.creationTimestamp, local: formatTime(local) }
}
