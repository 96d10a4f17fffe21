import { isStatus, type KubeClient } from '../../kube/client.ts'
import { reviewSelf } from '../../kube/self-subject-review.ts'

/** Who we are to the API, as `kubectl auth whoami`; undefined where it does not say (before Kubernetes 1.28). */
export async function whoAmI(client: KubeClient): Promise<string | undefined> {
  try {
    return (await reviewSelf(client)).status?.userInfo.username
  } catch (error) {
    if (isStatus(error, 'NotFound') || isStatus(error, 'Forbidden')) return undefined
    throw error
  }
}
