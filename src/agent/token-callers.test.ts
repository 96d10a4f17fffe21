import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../kube/client.ts'
import { inMemoryTransport, json, refusal } from '../testing/in-memory-transport.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { createTokenCallers } from './token-callers.ts'

const second = 1000

/** An API that knows the token `good` alone; `down` makes it answer with 500. */
function reviewer() {
  const clock = createManualClock(0)
  const asked: string[] = []
  const state = { down: false }
  const transport = inMemoryTransport(({ body }) => {
    const review = JSON.parse(new TextDecoder().decode(body)) as { spec: { token: string } }
    asked.push(review.spec.token)
    if (state.down) return refusal(500, 'InternalError')
    const user = {
      username: 'system:serviceaccount:monitoring:prometheus',
      uid: 'u',
      groups: ['system:authenticated'],
    }
    return json(201, {
      ...review,
      status: review.spec.token === 'good' ? { authenticated: true, user } : { authenticated: false },
    })
  })
  return { clock, asked, state, tokens: createTokenCallers({ client: createClient(transport), clock }) }
}

test('H-2: the API tells whose token it is; it is asked again after two minutes', async () => {
  const { clock, asked, tokens } = reviewer()
  const caller = await tokens.callerOf('good')
  assert.deepEqual(caller, {
    ok: true,
    user: {
      username: 'system:serviceaccount:monitoring:prometheus',
      uid: 'u',
      groups: ['system:authenticated'],
    },
  })
  await clock.advance(119 * second)
  await tokens.callerOf('good')
  assert.equal(asked.length, 1)
  await clock.advance(second)
  await tokens.callerOf('good')
  assert.equal(asked.length, 2)
})

test('a token that is nobody’s is asked about again after 30 seconds', async () => {
  const { clock, asked, tokens } = reviewer()
  assert.equal((await tokens.callerOf('bad')).ok, false)
  await clock.advance(29 * second)
  await tokens.callerOf('bad')
  assert.equal(asked.length, 1)
  await clock.advance(second)
  await tokens.callerOf('bad')
  assert.equal(asked.length, 2)
})

test('H-2: an API that fails is asked five times, then the token is nobody’s; the next call asks again', async () => {
  const { clock, asked, state, tokens } = reviewer()
  state.down = true
  const caller = tokens.callerOf('good')
  const attempts: number[] = []
  for (const pause of [0, 500, 750, 1125, 1688]) {
    await clock.advance(pause)
    attempts.push(asked.length)
  }
  assert.deepEqual(attempts, [1, 2, 3, 4, 5])
  assert.equal((await caller).ok, false)
  state.down = false
  assert.equal((await tokens.callerOf('good')).ok, true)
})

test('an API that does not answer makes nobody known after ten seconds, and is asked once by many callers', async () => {
  const clock = createManualClock(0)
  let asked = 0
  const transport = inMemoryTransport(() => {
    asked++
    return new Promise(() => {})
  })
  const tokens = createTokenCallers({ client: createClient(transport), clock })
  const callers = [tokens.callerOf('good'), tokens.callerOf('good')]
  await clock.advance(10 * second)
  assert.deepEqual(
    (await Promise.all(callers)).map(({ ok }) => ok),
    [false, false],
  )
  assert.equal(asked, 1)
})

test('attack: ever new tokens are not asked about without end, and none is remembered as it is', async () => {
  const clock = createManualClock(0)
  let asked = 0
  const transport = inMemoryTransport(() => {
    asked++
    return new Promise(() => {})
  })
  const tokens = createTokenCallers({ client: createClient(transport), clock })
  const callers = Array.from({ length: 100 }, (_, index) => tokens.callerOf(`token-${index}`))
  await clock.advance(10 * second)
  assert.ok((await Promise.all(callers)).every(({ ok }) => !ok))
  assert.equal(asked, 32)
  assert.equal((await tokens.callerOf('x'.repeat(20_000))).ok, false)
  assert.equal(asked, 32)
})
