import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waveSize, wavesOf } from './renewal-waves.ts'

test('a wave is a number of nodes or a share of them, and never none', () => {
  assert.deepEqual(
    ['10%', '1%', '100%', '7', '0', '0%', '101%', 'x', '-1', ''].map(text => waveSize(text, 25)),
    [3, 1, 25, 7, undefined, undefined, undefined, undefined, undefined, undefined],
  )
  assert.deepEqual(wavesOf(['a', 'b', 'c', 'd', 'e'], 2), [['a', 'b'], ['c', 'd'], ['e']])
})
