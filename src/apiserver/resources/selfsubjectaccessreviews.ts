import { resources, type SubjectAccessReview } from '../../kube/types.ts'
import type { ReviewResource } from './resource.ts'
import { accessSpecErrors, attributesOf, emptyMetadataErrors } from './review-rules.ts'

export const selfSubjectAccessReviews: ReviewResource<SubjectAccessReview> = {
  ...resources.selfSubjectAccessReviews,
  stored: false,
  singular: 'selfsubjectaccessreview',
  validate: review => [...accessSpecErrors(review.spec), ...emptyMetadataErrors(review)],
  review(review, { access, user }) {
    const { allowed, reason } = access.authorize(attributesOf(user, review.spec))
    return { ...review, status: { allowed, ...(reason && { reason }) } }
  },
}
