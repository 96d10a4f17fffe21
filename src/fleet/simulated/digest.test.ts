import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { canonical, EventDigest } from './digest.ts'

test('facts are written the same whatever the order of their members', () => {
  assert.equal(
    canonical({ b: [1, { d: null, c: 'x' }], a: undefined, e: true }),
    '{"b":[1,{"c":"x","d":null}],"e":true}',
  )
  assert.equal(canonical({ z: 1, a: 2 }), canonical({ a: 2, z: 1 }))
})

test('the digest is SHA-256 over one line per event', () => {
  const digest = new EventDigest()
  digest.record(1.5, 'node-1', 'start')
  digest.record(2, 'api', 'answer', { status: 201 })
  const lines = '1.500 node-1 start {}\n2.000 api answer {"status":201}\n'
  assert.equal(digest.value(), createHash('sha256').update(lines).digest('hex'))
  assert.equal(digest.tail(), lines)
})

test('any difference of time, machine, kind or facts changes the digest, and reading it does not', () => {
  const value = (...events: Parameters<EventDigest['record']>[]) => {
    const digest = new EventDigest(2)
    for (const event of events) {
      digest.record(...event)
      digest.value()
    }
    return digest.value()
  }
  const base = value([1, 'a', 'k', { f: 1 }], [2, 'b', 'k'])
  assert.equal(base, value([1, 'a', 'k', { f: 1 }], [2, 'b', 'k']))
  const others = [
    value([1, 'a', 'k', { f: 2 }], [2, 'b', 'k']),
    value([1, 'a', 'k', { f: 1 }], [3, 'b', 'k']),
    value([2, 'b', 'k'], [1, 'a', 'k', { f: 1 }]),
    value([1, 'a', 'k', { f: 1 }], [2, 'c', 'k']),
    value([1, 'a', 'k', { f: 1 }], [2, 'b', 'l']),
  ]
  assert.equal(new Set([base, ...others]).size, 6)
})

test('the tail keeps the last lines in order', () => {
  const digest = new EventDigest(3)
  for (let time = 1; time <= 5; time += 1) digest.record(time, 'm', 'k')
  assert.equal(digest.tail(), '3.000 m k {}\n4.000 m k {}\n5.000 m k {}\n')
})
