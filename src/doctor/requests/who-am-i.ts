import { isStatus, type KubeClient } from '../../kube/client.ts'
import type { KubeObject, ResourceRef } from '../../kube/types.ts'

const selfSubjectReviews: ResourceRef = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
}

interface SelfSubjectReview extends KubeObject {
  status?: { userInfo?: { username?: string } }
}

/** Who we are to the API, as `kubectl auth whoami`; undefined where it does not say (before Kubernetes 1.28). */
export async function whoAmI(client: KubeClient): Promise<string | undefined> {
  const review: SelfSubjectReview = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: { name: '' },
  }
  try {
    return (await client.create<SelfSubjectReview>(selfSubjectReviews, review)).status?.userInfo?.username
  } catch (error) {
    if (isStatus(error, 'NotFound') || isStatus(error, 'Forbidden')) return undefined
    throw error
  }
}
