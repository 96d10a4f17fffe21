import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { bodyText, kubeletBody } from './kubelet-body.ts'

function answer() {
  const response = new IncomingMessage(new Socket())
  const clock = createManualClock(0)
  const left = new AbortController()
  const state = { done: 0 }
  const body = (silence = 1000) =>
    kubeletBody(response, { clock, signal: left.signal, silence }, () => {
      state.done++
    })
  return { response, clock, left, state, body }
}

async function read(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of body) parts.push(chunk)
  return Buffer.concat(parts).toString()
}

test('what the kubelet sends comes until it ends', async () => {
  const { response, clock, state, body } = answer()
  const text = read(body())
  response.push('one ')
  response.push('two')
  response.push(null)
  assert.equal(await text, 'one two')
  await settle()
  assert.deepEqual([state.done, clock.pending()], [1, 0])
})

test('attack: a kubelet that falls silent in the middle is given up', async () => {
  const { response, clock, state, body } = answer()
  const text = read(body())
  response.push('one')
  for (let turn = 0; turn < 5; turn++) await settle()
  await clock.advance(999)
  assert.equal(state.done, 0)
  await clock.advance(1)
  assert.equal(await text, 'one')
  await settle()
  assert.deepEqual([state.done, clock.pending()], [1, 0])
})

test('a client that leaves ends it, one that wants no body too', async () => {
  const first = answer()
  const text = read(first.body(Number.POSITIVE_INFINITY))
  first.left.abort()
  assert.equal(await text, '')
  const second = answer()
  await second.body()[Symbol.asyncIterator]().return?.()
  await settle()
  assert.deepEqual([first.state.done, second.state.done], [1, 1])
  assert.deepEqual([first.clock.pending(), second.clock.pending()], [0, 0])
})

test('attack: of a refusal without end the first characters are read', async () => {
  const { response, clock, left } = answer()
  response._read = () => void response.push('x'.repeat(1000))
  assert.equal((await bodyText(response, 1500, { clock, signal: left.signal, silence: 1000 })).length, 1500)
  await settle()
  assert.equal(clock.pending(), 0)
})
