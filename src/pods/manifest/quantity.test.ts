import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseQuantity } from './quantity.ts'

test('a quantity is read with its suffix or exponent; anything else is none', () => {
  const cases: [unknown, number | undefined][] = [
    ['100m', 0.1],
    ['1', 1],
    [2, 2],
    ['0.5', 0.5],
    ['1Gi', 2 ** 30],
    ['128Mi', 2 ** 27],
    ['1k', 1000],
    ['1e3', 1000],
    ['1E', 1e18],
    ['', undefined],
    ['-1', undefined],
    ['1.5.2', undefined],
    ['1 Gi', undefined],
    ['Ki', undefined],
    [null, undefined],
  ]
  for (const [text, expected] of cases) assert.equal(parseQuantity(text), expected, String(text))
})
