import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wantsColours } from './colours.ts'

test('colours are for terminals that have them, whose user did not say no', () => {
  const wants = (isTerminal: boolean, environment: Record<string, string>) =>
    wantsColours(isTerminal, { TERM: 'xterm', ...environment })
  assert.equal(wants(true, {}), true)
  assert.equal(wants(true, { NO_COLOR: '' }), true)
  assert.equal(wants(true, { NO_COLOR: '1' }), false)
  assert.equal(wants(true, { TERM: 'dumb' }), false)
  assert.equal(wants(false, {}), false)
})
