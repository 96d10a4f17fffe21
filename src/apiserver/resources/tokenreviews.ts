import { type KubeObject, resources, type UserInfo } from '../../kube/types.ts'
import { apiError } from '../wire/api-error.ts'
import type { ReviewResource } from './resource.ts'

interface TokenReview extends KubeObject {
  spec: { token?: string; audiences?: string[] }
  status?: { authenticated?: boolean; user: Partial<UserInfo>; audiences?: string[]; error?: string }
}

export const tokenReviews: ReviewResource<TokenReview> = {
  ...resources.tokenReviews,
  stored: false,
  singular: 'tokenreview',
  validate: () => [],
  review(review, { access }) {
    const token = review.spec?.token ?? ''
    if (token === '') throw apiError.badRequest('token is required for TokenReview in authentication')
    const { audiences = [] } = review.spec
    const verdict = access.authenticateToken(token, audiences.length > 0 ? audiences : undefined)
    if (!verdict.ok) return { ...review, status: { user: {}, error: verdict.reason } }
    const known = verdict.audiences.length > 0 && { audiences: [...verdict.audiences] }
    return { ...review, status: { authenticated: true, user: verdict.user, ...known } }
  },
}
