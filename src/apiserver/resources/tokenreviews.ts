import { type KubeObject, resources, type UserInfo } from '../../kube/types.ts'
import { apiError } from '../wire/api-error.ts'
import type { ReviewResource } from './resource.ts'

interface TokenReview extends KubeObject {
  spec: { token?: string; audiences?: string[] }
  status?: { authenticated?: boolean; user: Partial<UserInfo>; error?: string }
}

export const tokenReviews: ReviewResource<TokenReview> = {
  ...resources.tokenReviews,
  stored: false,
  singular: 'tokenreview',
  validate: () => [],
  review(review, { access }) {
    const token = review.spec?.token ?? ''
    if (token === '') throw apiError.badRequest('token is required for TokenReview in authentication')
    const user = access.authenticateToken(token)
    return {
      ...review,
      status: user ? { authenticated: true, user } : { user: {}, error: 'invalid bearer token' },
    }
  },
}
