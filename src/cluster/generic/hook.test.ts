import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { systemSpawn } from '../../host/spawn.ts'
import { hostPorts } from '../host-ports.ts'
import { type HookCommand, runHook } from './hook.ts'

const ports = { spawn: systemSpawn, clock: hostPorts.clock, directory: '/' }
const shell = (script: string, timeout = 30_000): HookCommand => {
  return { command: ['/bin/sh', '-c', script], timeout, attempts: 1 }
}

test('a hook gets its variables and nothing else of our environment, and what it prints is given', async () => {
  const printed = await runHook(
    'hook a',
    shell('echo "$ROLLCALL_SERVER"; env | cut -d= -f1 | sort'),
    { ROLLCALL_SERVER: 'cp-1' },
    ports,
  )
  const [first, ...names] = printed.trim().split('\n')
  assert.equal(first, 'cp-1')
  assert.deepEqual(
    names.filter(name => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)),
    ['PATH', 'ROLLCALL_SERVER'],
  )
})

test('one that fails, is not there or takes too long is told by name, with the end of what it wrote, printable', async () => {
  const why = (hook: HookCommand) =>
    runHook('hook a', hook, {}, ports).then(
      () => assert.fail('it did not fail'),
      error => {
        assert(hasCode(error, 'HOOK_FAILED'))
        return error.message
      },
    )
  assert.equal(
    await why(shell("printf 'one\\n\\033[2Jtwo\\n\\n' >&2; exit 4")),
    'hook a ended with code 4: ?[2Jtwo',
  )
  assert.match(await why({ ...shell(''), command: ['/nowhere'] }), /^hook a .*ENOENT/)
  assert.equal(await why(shell('sleep 60', 50)), 'hook a took longer than 0.05 s')
})
