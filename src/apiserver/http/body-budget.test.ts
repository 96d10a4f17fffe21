import assert from 'node:assert/strict'
import { it } from 'node:test'
import { BodyBudget } from './body-budget.ts'

const budget = () => new BodyBudget({ total: 100, connection: 60, free: 10 })

it('lets one connection hold only its part, and all together only the whole', () => {
  const shared = budget()
  const [one, other] = [{}, {}]
  const first = shared.share(one)
  assert.equal(first.take(70), true)
  assert.equal(shared.share(one).take(11), false)
  assert.equal(shared.share(other).take(50), true)
  assert.equal(shared.share({}).take(11), false)
  first.giveBack()
  assert.equal(shared.held, 40)
  assert.equal(shared.share(one).take(11), true)
})

it('has room for a small body when all is taken, in as many pieces as it comes', () => {
  const shared = budget()
  for (let i = 0; i < 2; i++) shared.share({}).take(60)
  const small = shared.share({})
  for (let piece = 0; piece < 10; piece++) assert.equal(small.take(1), true)
  assert.equal(small.take(1), false)
})
