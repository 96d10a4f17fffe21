import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { calledAs } from './called-as.ts'

test('the commands that up prints can be typed where it runs: in a clone, by npx, from PATH', () => {
  const clone = fileURLToPath(new URL('../..', import.meta.url))
  assert.equal(calledAs(clone, { npm_command: 'start' }), 'bin/rollcall')
  assert.equal(calledAs(tmpdir(), { npm_command: 'exec' }), 'npx rollcall')
  assert.equal(calledAs(tmpdir(), {}), 'rollcall')
})
