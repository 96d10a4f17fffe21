import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle } from '../../../testing/manual-clock.ts'
import { Turns } from './turns.ts'

test('no more than there are places go at once, and parties take turns however many one of them brings', async () => {
  const turns = new Turns(2)
  const order: string[] = []
  const go = async (name: string) => {
    await turns.take(name.charAt(0))
    order.push(name)
  }
  for (const name of ['m0', 'm1', 'm2', 'm3', 'm4', 'a0', 'b0', 'a1']) void go(name)
  await settle()
  assert.deepEqual(order, ['m0', 'm1'])
  for (let n = 0; n < 6; n++) {
    turns.giveBack()
    await settle()
  }
  assert.deepEqual(order, ['m0', 'm1', 'm2', 'a0', 'b0', 'm3', 'a1', 'm4'])
})
