import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { parseInventory } from './parse-inventory.ts'

test('what is wrong with an inventory is told without its text, which may be a Secret', () => {
  assert.throws(
    () => parseInventory({ 'a.yaml': 'nodes:\n  worker-1: {addresses: [s3cret: }' }),
    error =>
      hasCode(error, 'INVENTORY_INVALID') &&
      /^a\.yaml: line 2: /.test(error.message) &&
      !/s3cret/.test(error.message),
  )
})

test('a node that is there twice in one mapping is refused, also among thousands', () => {
  const nodes = Array.from({ length: 3000 }, (_, n) => `  worker-${n}: { addresses: [10.0.0.1] }`)
  assert.equal(parseInventory({ 'a.yaml': `nodes:\n${nodes.join('\n')}\n` }).size, 3000)
  assert.throws(
    () => parseInventory({ 'a.yaml': `nodes:\n${[...nodes, nodes[7]].join('\n')}\n` }),
    /a\.yaml: line 3002: a key is there twice/,
  )
})

test('aliases that multiply are refused and not expanded', () => {
  const lines = Array.from(
    { length: 9 },
    (_, n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`).join(',')}]`,
  )
  const bomb = `a0: &a0 [x]\n${lines.join('\n')}\n`
  assert.throws(
    () => parseInventory({ 'a.yaml': bomb }),
    error => hasCode(error, 'INVENTORY_INVALID') && /aliases/.test(error.message),
  )
})
