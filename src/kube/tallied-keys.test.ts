import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TalliedKeys } from './tallied-keys.ts'

type Step = { key: string; heading: string | undefined }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    key: fc.stringMatching(/^[a-c]{1,3}$/).map(name => name.padStart(80, 'long/')),
    heading: fc.constantFrom('issued', 'denied', undefined),
  }),
  { maxLength: 200 },
)

function apply(tallied: TalliedKeys, model: Map<string, string>, { key, heading }: Step): void {
  if (heading === undefined) {
    tallied.delete(key)
    model.delete(key)
  } else {
    tallied.set(key, heading)
    model.set(key, heading)
  }
}

function assertSame(tallied: TalliedKeys, model: ReadonlyMap<string, string>, keys: readonly string[]): void {
  assert.deepEqual([...tallied.keys()].sort(), [...model.keys()].sort())
  for (const key of keys) assert.equal(tallied.get(key), model.get(key), key)
  const counted = [...tallied.counts()].filter(([, count]) => count > 0)
  const expected = [...Map.groupBy(model, ([, heading]) => heading)].map(([heading, all]) => [
    heading,
    all.length,
  ])
  assert.deepEqual(counted.sort(), expected.sort())
}

test('keys under headings are what a Map says they are, in any order of changes', () => {
  fc.assert(
    fc.property(steps, changes => {
      const tallied = new TalliedKeys()
      const model = new Map<string, string>()
      for (const change of changes) apply(tallied, model, change)
      const keys = changes.map(({ key }) => key)
      assertSame(tallied, model, keys)
    }),
  )
})

test('a name with control characters, as RBAC allows it, is found behind one that it begins with', () => {
  const tallied = new TalliedKeys()
  const long = 'a'.repeat(600)
  const keys = ['\u0001', '', '\u0002', '-', '\u0001\u0001'].map(end => long + end)
  for (const key of keys) tallied.set(key, 'issued')
  for (const key of keys) assert.equal(tallied.get(key), 'issued', JSON.stringify(key.slice(600)))
})

test('a copy and what it was made of go their own ways', () => {
  fc.assert(
    fc.property(steps, steps, steps, (before, here, there) => {
      const tallied = new TalliedKeys()
      const model = new Map<string, string>()
      for (const change of before) apply(tallied, model, change)
      const copy = tallied.copy()
      const copied = new Map(model)
      for (const change of here) apply(tallied, model, change)
      for (const change of there) apply(copy, copied, change)
      const keys = [...before, ...here, ...there].map(({ key }) => key)
      assertSame(tallied, model, keys)
      assertSame(copy, copied, keys)
    }),
  )
})

test('a key that could be taken for two is not taken', () => {
  assert.equal(TalliedKeys.takes('namespace/csr-1'), true)
  assert.equal(TalliedKeys.takes('a\nb'), false)
  assert.equal(TalliedKeys.takes('a\tb'), false)
})
