import { createHash } from 'node:crypto'
import type { KubeClient } from '../kube/client.ts'
import { type KubeObject, resources, type UserInfo } from '../kube/types.ts'
import { type Clock, withTimeout } from '../ports.ts'
import { askAgain } from './ask-again.ts'
import type { Caller } from './caller.ts'

interface TokenReview extends KubeObject {
  spec: { token: string }
  status?: { authenticated?: boolean; user?: Partial<UserInfo>; error?: string }
}

export interface TokenCallers {
  /** Whose token it is. Nobody's, when the API cannot be asked. Never rejects. */
  callerOf(token: string): Promise<Caller>
}

/** Milliseconds for which answers are kept: the kubelet's authentication.webhook.cacheTTL for who is known (H-2). */
const keepKnown = 120_000
const keepUnknown = 30_000
/** Answers that are kept at most; the oldest goes first. */
const mostKept = 1000
/** Characters of a token that the API is bothered with. */
const longestToken = 16 * 1024
/** Milliseconds that the API has for its answer. */
const patience = 10_000
/** Reviews under way at once: who sends ever new tokens must not have the API asked without end. */
const mostAsked = 32

/** Asks the API by TokenReview, and keeps its answers for a while, never the tokens. */
export function createTokenCallers({ client, clock }: { client: KubeClient; clock: Clock }): TokenCallers {
  const kept = new Map<string, { caller: Caller; until: number }>()
  const asked = new Map<string, Promise<Caller>>()

  async function review(token: string): Promise<Caller> {
    const question: TokenReview = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: { name: '' },
      spec: { token },
    }
    const { status = {} } = await withTimeout(
      clock,
      patience,
      askAgain(clock, () => client.create<TokenReview>(resources.tokenReviews, question)),
      () => new Error('the API did not answer in time'),
    )
    const { username = '', groups = [], uid, extra } = status.user ?? {}
    if (status.authenticated !== true || username === '')
      return { ok: false, why: status.error || 'the token is nobody’s' }
    return { ok: true, user: { username, groups: [...groups], ...(uid && { uid }), ...(extra && { extra }) } }
  }

  async function ask(key: string, token: string): Promise<Caller> {
    try {
      const caller = await review(token)
      const [oldest] = kept.keys()
      if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest)
      kept.set(key, { caller, until: clock.monotonic() + (caller.ok ? keepKnown : keepUnknown) })
      return caller
    } catch (error) {
      // Not kept: the API may answer the next time.
      return { ok: false, why: `the API cannot be asked whose token it is: ${String(error)}` }
    } finally {
      asked.delete(key)
    }
  }

  return {
    async callerOf(token) {
      if (token === '' || token.length > longestToken) return { ok: false, why: 'that is no token' }
      const key = createHash('sha256').update(token).digest('base64')
      const known = kept.get(key)
      if (known && clock.monotonic() < known.until) return known.caller
      kept.delete(key)
      const under = asked.get(key)
      if (under) return under
      if (asked.size >= mostAsked) return { ok: false, why: 'too many tokens are being asked about' }
      const answer = ask(key, token)
      asked.set(key, answer)
      return answer
    },
  }
}
