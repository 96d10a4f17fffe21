import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawFaults } from './faults.ts'
import { SeededRandom } from './random.ts'

const draw = (seed: string) =>
  drawFaults({
    random: new SeededRandom(seed),
    from: 1000,
    until: 1000 + 86_400_000,
    nodes: 5,
    meanGap: 600_000,
    lifetime: 3_600_000,
  })

test('a schedule depends on its seed alone', () => {
  assert.deepEqual(draw('1'), draw('1'))
  assert.notDeepEqual(draw('1'), draw('2'))
})

test('faults come in order, within the time, and end with it; every kind comes', () => {
  const kinds = new Set<string>()
  for (let seed = 0; seed < 20; seed += 1) {
    let last = 1000
    for (const fault of draw(String(seed))) {
      kinds.add(fault.kind)
      assert.ok(fault.at >= last && fault.lasts >= 0 && fault.at + fault.lasts <= 1000 + 86_400_000)
      last = fault.at
      if ('node' in fault) assert.ok(fault.node >= 0 && fault.node < 5)
    }
  }
  assert.equal(kinds.size, 14)
})

test('leaving kinds out draws only from the others', () => {
  const faults = drawFaults({
    random: new SeededRandom('1'),
    from: 0,
    until: 1e9,
    nodes: 1,
    meanGap: 1e6,
    lifetime: 1e7,
    kinds: ['power cut'],
  })
  assert.ok(faults.length > 500)
  assert.ok(faults.every(({ kind }) => kind === 'power cut'))
})
