import type { KubeClient } from './client.ts'
import type { KubeObject, ResourceRef, UserInfo } from './types.ts'

const selfSubjectReviews: ResourceRef = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
}

/** The answer bears the server's time as its creationTimestamp. */
export interface SelfSubjectReview extends KubeObject {
  status?: { userInfo: UserInfo }
}

/**
 * Asks the API whom it takes the client for, as `kubectl auth whoami`: everybody who is authenticated may. Rejects with
 * ApiStatusError: NotFound before Kubernetes 1.28, Forbidden for whoever is not logged in, 401 for a bad credential.
 */
export function reviewSelf(client: KubeClient): Promise<SelfSubjectReview> {
  return client.create<SelfSubjectReview>(selfSubjectReviews, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    metadata: { name: '' },
  })
}
