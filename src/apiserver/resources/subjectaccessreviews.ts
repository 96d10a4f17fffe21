import { resources, type SubjectAccessReview } from '../../kube/types.ts'
import type { Access } from '../access/access.ts'
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
    const { resourceAttributes, nonResourceAttributes } = review.spec
    const errors = [
      ...accessSpecErrors(review.spec),
      ...subjectErrors(review.spec),
      ...emptyMetadataErrors(review, ['namespace']),
    ]
    const namespace = resourceAttributes?.namespace ?? ''
    if (resourceAttributes && namespace !== (review.metadata.namespace ?? '')) {
      const text = 'must match metadata.namespace'
      errors.push(fieldError.invalid('spec.resourceAttributes.namespace', namespace, text))
    }
    if (nonResourceAttributes) {
      const text = 'disallowed on this kind of request'
      errors.push(fieldError.invalid('spec.nonResourceAttributes', nonResourceAttributes, text))
    }
    return errors
  },
}
