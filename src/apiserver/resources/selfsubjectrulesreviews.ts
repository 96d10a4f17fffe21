import type { KubeObject, PolicyRule } from '../../kube/types.ts'
import { apiError } from '../wire/api-error.ts'
import type { ReviewResource } from './resource.ts'

interface SelfSubjectRulesReview extends KubeObject {
  spec: { namespace?: string }
  status?: {
    resourceRules: PolicyRule[]
    nonResourceRules: PolicyRule[]
    incomplete: boolean
    evaluationError?: string
  }
}

export const selfSubjectRulesReviews: ReviewResource<SelfSubjectRulesReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectrulesreviews',
  kind: 'SelfSubjectRulesReview',
  namespaced: false,
  stored: false,
  singular: 'selfsubjectrulesreview',
  validate: () => [],
  review(review, { access, user }) {
    const namespace = review.spec?.namespace ?? ''
    if (namespace === '') throw apiError.badRequest('no namespace on request')
    // The answer does not repeat the question.
    return { ...review, spec: {}, status: access.rulesFor(user, namespace) }
  },
}
