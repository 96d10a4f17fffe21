import type { KubeObject, UserInfo } from '../../kube/types.ts'
import { timestamp } from '../object-name.ts'
import type { ReviewResource } from './resource.ts'

interface SelfSubjectReview extends KubeObject {
  status?: { userInfo: UserInfo }
}

/** `kubectl auth whoami`. */
export const selfSubjectReviews: ReviewResource<SelfSubjectReview> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
  stored: false,
  singular: 'selfsubjectreview',
  validate: () => [],
  review: (review, { user, now }) => ({
    ...review,
    metadata: { ...review.metadata, creationTimestamp: timestamp(now) },
    status: { userInfo: user },
  }),
}
