import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buckets, byIssuer, type Ending, endings } from '../../dashboard/model/expiry.ts'
import { duration } from '../../dashboard/model/format.ts'
import { lineReader } from '../../dashboard/model/lines.ts'
import { certificateState, nodeState, placeNodes } from '../../dashboard/model/node-state.ts'
import type { LifeRow, NodeRow } from './fleet/rows.ts'

const life = (from: number, to: number): LifeRow => [from, to, 'ca']
const good = life(0, 100_000)

test('a certificate is due from 70 to 90 percent of its life, late from then on, and over at its end', () => {
  const states = [0, 69_999, 70_000, 89_999, 90_000, 99_999, 100_000].map(now => certificateState(good, now))
  assert.deepEqual(states, ['good', 'good', 'due', 'due', 'late', 'late', 'expired'])
  assert.equal(certificateState(life(500, 1000), 100), 'future')
  assert.equal(certificateState(life(150, 1000), 100), 'good', 'clocks may differ a little')
  assert.equal(certificateState(0, 100), 'none')
})

test('a node is shown by the worst that is so', () => {
  const node = (changes: Partial<Record<1 | 2 | 3 | 4 | 5, unknown>>) =>
    Object.assign(['n', 1, good, good, 0, 0], changes) as NodeRow
  const now = 10_000
  assert.equal(nodeState(node({}), now), 'good')
  assert.equal(nodeState(node({ 2: life(0, 14_000) }), now), 'due')
  assert.equal(nodeState(node({ 3: 0 }), now), 'none')
  assert.equal(nodeState(node({ 4: now - 30 }), now), 'good', 'it is being worked on')
  assert.equal(nodeState(node({ 4: now - 90 }), now), 'waiting')
  assert.equal(nodeState(node({ 1: 0 }), now), 'notready')
  assert.equal(nodeState(node({ 1: 2, 2: life(0, 11_000) }), now), 'late')
  assert.equal(nodeState(node({ 2: life(0, 11_000), 5: now - 60 }), now), 'refused')
  assert.equal(nodeState(node({ 5: now - 4000 }), now), 'good', 'a refusal is news for an hour')
  assert.equal(nodeState(node({ 2: life(0, 9000), 5: now }), now), 'expired')
})

test('nodes are placed worst first, by number in their names, and counted whatever is filtered', () => {
  const rows: NodeRow[] = ['worker-10', 'worker-9', 'edge-1'].map(name => [name, 1, good, good, 0, 0])
  rows.push(['worker-2', 1, life(0, 5), good, 0, 0])
  const place = (more: object) =>
    placeNodes(rows, 1000, { states: new Set(), text: '', order: 'worst', ...more } as never)
  const names = (more: object) => place(more).shown.map(({ row }) => row[0])
  assert.deepEqual(names({}), ['worker-2', 'edge-1', 'worker-9', 'worker-10'])
  assert.deepEqual(names({ text: ' WORKER-1 ' }), ['worker-10'])
  assert.deepEqual(names({ states: new Set(['expired']) }), ['worker-2'])
  assert.deepEqual(place({ text: 'nothing' }).counts.good, 3)
})

test('every certificate that has not ended stands in exactly one step of the chart', () => {
  const ends = fc.array(fc.integer({ min: -1000, max: 40_000_000 }), { maxLength: 200 })
  fc.assert(
    fc.property(ends, fc.integer({ min: 1_000_000_000, max: 2_000_000_000 }), (list, now) => {
      const all: Ending[] = list
        .map((end): Ending => ({ node: 'n', kind: end % 2 ? 'client' : 'serving', life: life(0, now + end) }))
        .sort((a, b) => a.life[1] - b.life[1])
      const chart = buckets(all, now)
      const counted = chart.reduce((sum, { client, serving }) => sum + client + serving, 0)
      assert.equal(counted, list.filter(end => end > 0).length)
      assert.ok(chart.length <= 75)
      for (const [n, { from, to }] of chart.entries()) assert.equal(chart[n + 1]?.from ?? to, to, `${from}`)
    }),
  )
})

test('each renewal is spread over what is left of its rotation window, and adds up to one', () => {
  const now = 1_000_000
  const sum = (all: Ending[]) => buckets(all, now).reduce((total, { renewals }) => total + renewals, 0)
  const ending = (from: number, to: number): Ending => ({
    node: 'n',
    kind: 'client',
    life: life(now + from, now + to),
  })
  const close = (value: number, to: number) => assert.ok(Math.abs(value - to) < 1e-9, `${value}`)
  close(sum([ending(0, 100_000)]), 1)
  close(sum([ending(-80_000, 20_000)]), 1)
  close(sum([ending(-95_000, 5000)]), 0)
  const chart = buckets([ending(0, 100_000)], now)
  const window = chart.filter(({ renewals }) => renewals > 0)
  assert.ok((window[0]?.to ?? 0) > now + 70_000 && (window.at(-1)?.from ?? 0) < now + 90_000)
})

test('certificates are listed by their end and counted by their CA', () => {
  const rows: NodeRow[] = [
    ['a', 1, [0, 50, 'x'], [0, 20, 'y'], 0, 0],
    ['b', 1, [0, 30, 'x'], 0, 0, 0],
  ]
  const all = endings(rows)
  assert.deepEqual(
    all.map(({ node, kind }) => `${node} ${kind}`),
    ['a serving', 'b client', 'a client'],
  )
  assert.deepEqual(byIssuer(all), [
    { issuer: 'x', client: 2, serving: 0 },
    { issuer: 'y', client: 0, serving: 1 },
  ])
})

test('lines are read in whatever pieces they come, also through the middle of a character', () => {
  const values = [{ a: 'ü€😀' }, { b: [1, 2] }, { c: 'x\n' }]
  const bytes = new TextEncoder().encode(values.map(value => `${JSON.stringify(value)}\n`).join(''))
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), sizes => {
      const read: unknown[] = []
      const take = lineReader(value => read.push(value))
      for (let from = 0, n = 0; from < bytes.length; n++) {
        const size = sizes[n % sizes.length] ?? 1
        take(bytes.subarray(from, from + size))
        from += size
      }
      assert.deepEqual(read, values)
    }),
  )
})

test('durations have two units at most', () => {
  const texts = [-5, 59, 60, 3599, 3660, 36_000, 172_799, 180_000, 864_000].map(duration)
  assert.deepEqual(texts, ['0s', '59s', '1m', '59m', '1h 1m', '10h', '47h', '2d 2h', '10d'])
})
