import { resources, type SubjectAccessReview } from '../../kube/types.ts'
import type { Access } from '../access/access.ts'
import { apiError } from '../wire/api-error.ts'
import { fieldError } from '../wire/field-error.ts'
import type { ReviewResource } from './resource.ts'
import {
  accessSpecErrors,
  attributesOf,
  emptyMetadataErrors,
  subjectErrors,
  subjectOf,
} from './review-rules.ts'

function answer(review: SubjectAccessReview, access: Access): SubjectAccessReview {
  const { allowed, reason } = access.authorize(attributesOf(subjectOf(review.spec), review.spec))
  return { ...review, status: { allowed, ...(reason && { reason }) } }
}

export const subjectAccessReviews: ReviewResource<SubjectAccessReview> = {
  ...resources.subjectAccessReviews,
  stored: false,
  singular: 'subjectaccessreview',
  validate: review => [
    ...accessSpecErrors(review.spec),
    ...subjectErrors(review.spec),
    ...emptyMetadataErrors(review),
  ],
  review: (review, { access }) => answer(review, access),
}

/** The same question, asked by one who may ask it for one namespace only. */
export const localSubjectAccessReviews: ReviewResource<SubjectAccessReview> = {
  ...subjectAccessReviews,
  plural: 'localsubjectaccessreviews',
  kind: 'LocalSubjectAccessReview',
  namespaced: true,
  singular: 'localsubjectaccessreview',
  validate(review) {
    const { nonResourceAttributes } = review.spec ?? {}
    const text = 'disallowed on this kind of request'
    return [
      ...accessSpecErrors(review.spec),
      ...subjectErrors(review.spec),
      ...emptyMetadataErrors(review, ['namespace']),
      ...(nonResourceAttributes
        ? [fieldError.invalid('spec.nonResourceAttributes', nonResourceAttributes, text)]
        : []),
    ]
  },
  review(review, { access, namespace }) {
    const asked = review.spec.resourceAttributes?.namespace ?? ''
    if (asked !== namespace) {
      throw apiError.badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`)
    }
    return answer(review, access)
  },
}
