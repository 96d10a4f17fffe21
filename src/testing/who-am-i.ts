import type { KubeClient } from '../kube/client.ts'
import type { KubeObject, ResourceRef, UserInfo } from '../kube/types.ts'

const selfSubjectReviews: ResourceRef = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
}

interface SelfSubjectReview extends KubeObject {
  status?: { userInfo: UserInfo }
}

/** Whom the API takes the client for, as `kubectl auth whoami` asks. */
export async function whoAmI(client: KubeClient): Promise<UserInfo | undefined> {
  const review: SelfSubjectReview = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: { name: '' },
  }
  return (await client.create(selfSubjectReviews, review)).status?.userInfo
}
