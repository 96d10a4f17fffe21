import { RollcallError } from '../../errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { reviewSelf } from '../../kube/self-subject-review.ts'
import { formatTime } from '../../kube/time-format.ts'
import type { Clock } from '../../ports.ts'

/** `kubectl auth whoami`, which everybody may ask: the answer bears the server's time, in whole seconds. */
export async function compareClocks(
  client: KubeClient,
  clock: Clock,
): Promise<{ server: string; local: string }> {
  const before = clock.now()
  const { metadata } = await reviewSelf(client)
  const local = (before + clock.now()) / 2
  if (!metadata.creationTimestamp)
    throw new RollcallError('API_STATUS', 'the API does not tell its time in SelfSubjectReview')
  return { server: metadata.creationTimestamp, local: formatTime(local) }
}
