import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { systemRandom } from '../host/random.ts'
import { tokenExpiry } from '../trust/bootstrap-token.ts'
import { createBootstrapToken } from './bootstrap-token.ts'

test('a bootstrap token has the form that Kubernetes accepts, in a Secret that agrees with it', () => {
  const { id, token, object } = createBootstrapToken(Date.UTC(2030, 0, 2, 3, 4, 5), systemRandom)
  assert.match(token.reveal(), /^[a-z0-9]{6}\.[a-z0-9]{16}$/)
  assert.equal(object.metadata.name, `bootstrap-token-${id}`)
  const text = (key: string) => Buffer.from(object.data?.[key] ?? '', 'base64').toString()
  assert.equal(`${text('token-id')}.${text('token-secret')}`, token.reveal())
  assert.equal(text('expiration'), '2030-01-02T03:04:05Z')
  assert.equal(tokenExpiry(object), Date.UTC(2030, 0, 2, 3, 4, 5))
})

test('a token that is printed shows no secret', () => {
  const { id, token } = createBootstrapToken(0, systemRandom)
  const [, secret] = token.reveal().split('.')
  assert.ok(!`${inspect({ id, token })}${JSON.stringify({ token })}${token}`.includes(secret ?? ''))
})
