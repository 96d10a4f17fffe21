import type { KubeClient } from '../kube/client.ts'
import { reviewSelf } from '../kube/self-subject-review.ts'
import type { UserInfo } from '../kube/types.ts'

/** Whom the API takes the client for. */
export async function whoAmI(client: KubeClient): Promise<UserInfo | undefined> {
  return (await reviewSelf(client)).status?.userInfo
}
