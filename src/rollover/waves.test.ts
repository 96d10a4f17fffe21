import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planIn, start } from './testing/quiet-cluster.ts'
import { hasFailed, type WaveFacts, waveNow } from './waves.ts'

const ids = (count: number) =>
  Array.from({ length: count }, (_, index) => `node-${String(index).padStart(4, '0')}`)
const facts: WaveFacts = {
  candidates: ids(5000),
  population: 5000,
  room: 5000,
  all: false,
  hold: false,
  now: start,
}

/** Sizes of the waves when every member acts. */
function sizes(change: Partial<WaveFacts>): number[] {
  const list: number[] = []
  let plan = planIn('Reissuing')
  let { candidates } = { ...facts, ...change }
  while (candidates.length > 0) {
    const wave = waveNow(plan, { ...facts, ...change, candidates })
    assert(wave && wave !== plan.wave)
    list.push(wave.members.length)
    const acted = new Set(wave.members.map(({ consumer }) => consumer))
    candidates = candidates.filter(id => !acted.has(id))
    plan = { ...plan, wave }
  }
  return list
}

test('one node goes first, then 1 %, 10 %, 25 %, then the rest at no more than 1000 an hour', () => {
  assert.deepEqual(sizes({}), [1, 50, 500, 1000, 1000, 1000, 1000, 449])
})

test('no wave is larger than what may be down at one time', () => {
  assert.deepEqual(sizes({ candidates: ids(9), population: 9, room: 1 }), Array(9).fill(1))
  assert.equal(waveNow(planIn('Reissuing'), { ...facts, room: 0 }), undefined)
})

test('a wave goes on until all of its members have acted, and its times stay the same', () => {
  const plan = planIn('Reissuing')
  const first = waveNow({ ...plan, wave: { number: 1, since: start, members: [] } }, facts)
  assert(first)
  const [slow] = first.members
  assert(slow)
  const candidates = [slow.consumer, ...facts.candidates.slice(1000)]
  assert.equal(waveNow({ ...plan, wave: first }, { ...facts, candidates, now: start + 1 }), first)
  const spread = first.members.map(({ notBefore }) => notBefore - start)
  assert(Math.max(...spread) <= 50 * 3600 && new Set(spread).size > 40, 'spread over the hour of 1000 nodes')
})

test('in an emergency everybody is in one wave; a wave of a clock that was ahead is planned anew', () => {
  assert.equal(waveNow(planIn('EmergencyReissue'), { ...facts, all: true })?.members.length, 5000)
  const ahead = { number: 1, since: start + 1, members: [{ consumer: 'node-0000', notBefore: start + 1 }] }
  assert.equal(waveNow({ ...planIn('Reissuing'), wave: ahead }, facts)?.since, start)
})

test('one failure in a wave is borne, 2 % of a large one', () => {
  const wave = (size: number) => ({
    number: 1,
    since: start,
    members: ids(size).map(consumer => ({ consumer, notBefore: start })),
  })
  assert.deepEqual(
    [hasFailed(wave(10), 1), hasFailed(wave(10), 2), hasFailed(wave(500), 10), hasFailed(wave(500), 11)],
    [false, true, false, true],
  )
})
