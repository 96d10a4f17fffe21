import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SubjectAccessReview } from '../../kube/types.ts'
import type { Access, Attributes } from '../access/access.ts'
import type { ObjectReader } from '../reader.ts'
import { ApiError } from '../wire/api-error.ts'
import type { ReviewResource } from './resource.ts'
import { selfSubjectAccessReviews } from './selfsubjectaccessreviews.ts'
import { selfSubjectReviews } from './selfsubjectreviews.ts'
import { selfSubjectRulesReviews } from './selfsubjectrulesreviews.ts'
import { localSubjectAccessReviews, subjectAccessReviews } from './subjectaccessreviews.ts'
import { tokenReviews } from './tokenreviews.ts'

/** Allows `get` to everybody and remembers what it was asked. */
function accessThatAllowsGet() {
  const asked: Attributes[] = []
  const access: Pick<Access, 'authorize' | 'rulesFor' | 'authenticateToken'> = {
    authorize(attributes) {
      asked.push(attributes)
      return attributes.verb === 'get' ? { allowed: true, reason: 'because' } : { allowed: false, reason: '' }
    },
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
    authenticateToken: token =>
      token === 'good'
        ? { ok: true, user: { username: 't', groups: ['g'] }, audiences: [] }
        : { ok: false, reason: 'invalid bearer token' },
  }
  return { asked, access: access as Access }
}

const user = { username: 'me', groups: ['system:authenticated'] }
const reader: ObjectReader = { get: () => undefined, list: () => [], generation: () => 0 }
const { access, asked } = accessThatAllowsGet()
const context = { user, now: 0, subresource: '', access, reader, namespace: 'n' }

const bare = { apiVersion: 'v1', kind: 'Review', metadata: { name: '' } }

const review = (spec: SubjectAccessReview['spec']): SubjectAccessReview => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  metadata: {} as SubjectAccessReview['metadata'],
  spec,
})

const complaints = (resource: ReviewResource<SubjectAccessReview>, spec: SubjectAccessReview['spec']) =>
  resource.validate(review(spec)).map(({ field, text }) => `${field}: ${text}`)

test('a subject access review asks for the user it names, a self review for the asking one', () => {
  const spec = { user: 'u', groups: ['a'], resourceAttributes: { verb: 'get', resource: 'nodes' } }
  assert.deepEqual(subjectAccessReviews.review(review(spec), context).status, {
    allowed: true,
    reason: 'because',
  })
  assert.deepEqual(asked.at(-1)?.user, { username: 'u', groups: ['a'] })
  selfSubjectAccessReviews.review(review({ nonResourceAttributes: { verb: 'post', path: '/x' } }), context)
  assert.deepEqual(asked.at(-1), { user, verb: 'post', path: '/x' })
})

test('an access review asks exactly one question for somebody', () => {
  const resourceAttributes = { verb: 'get' }
  assert.deepEqual(complaints(subjectAccessReviews, { user: 'u', resourceAttributes }), [])
  assert.deepEqual(complaints(subjectAccessReviews, {}), [
    'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    'spec.user: Invalid value: "": at least one of user or group must be specified',
  ])
  assert.deepEqual(complaints(selfSubjectAccessReviews, { resourceAttributes, nonResourceAttributes: {} }), [
    'spec.nonResourceAttributes: Invalid value: {}: cannot be specified in combination with resourceAttributes',
  ])
})

test('a local review asks about its own namespace only', () => {
  const ask = (namespace: string) =>
    localSubjectAccessReviews.review(
      review({ user: 'u', resourceAttributes: { verb: 'get', namespace } }),
      context,
    )
  assert.equal(ask('n').status?.allowed, true)
  assert.throws(() => ask('other'), ApiError)
})

test('a token review says whose token it is', () => {
  const ask = (token: string) => tokenReviews.review({ ...bare, spec: { token } }, context).status
  assert.deepEqual(ask('good'), { authenticated: true, user: { username: 't', groups: ['g'] } })
  assert.deepEqual(ask('bad'), { user: {}, error: 'invalid bearer token' })
  assert.throws(() => ask(''), /token is required/)
})

test('who am I, and what may I: the answer does not repeat the question', () => {
  assert.deepEqual(selfSubjectReviews.review(bare, context).status, { userInfo: user })
  const rules = selfSubjectRulesReviews.review({ ...bare, spec: { namespace: 'n' } }, context)
  assert.deepEqual([rules.spec, rules.status], [{}, access.rulesFor(user, 'n')])
  assert.throws(
    () => selfSubjectRulesReviews.review({ ...bare, spec: {} }, context),
    /no namespace on request/,
  )
})
