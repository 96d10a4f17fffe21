import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemDisk } from '../../host/disk.ts'
import { isRunning, ownIdentity, parseIdentity, parseStat } from './process-identity.ts'

test('a name with spaces and brackets does not move the fields of /proc/ID/stat', () => {
  const line = (name: string) => `42 (${name}) S 1 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987654 1000 10`
  for (const name of ['sh', 'a b', ') R 1', '((', 'x) S 1 2 3'])
    assert.deepEqual(parseStat(line(name)), { processId: 42, state: 'S', startTicks: '987654' })
  assert.equal(parseStat(''), undefined)
  assert.equal(parseIdentity(`${line('sh')}\n`), undefined, 'half a file')
})

test('a process is known by id, start and boot: another start or boot is another process', async () => {
  const own = parseIdentity(await ownIdentity(systemDisk))
  assert.ok(own && own.processId === process.pid)
  assert.equal(await isRunning(own, systemDisk), true)
  assert.equal(await isRunning({ ...own, startTicks: '1' }, systemDisk), false)
  assert.equal(await isRunning({ ...own, bootId: 'other' }, systemDisk), false)
  assert.equal(await isRunning({ ...own, processId: 2 ** 30 }, systemDisk), false)
})
