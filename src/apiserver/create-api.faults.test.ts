import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RollcallError } from '../errors.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { createMemoryStore } from './storage/memory-store.ts'
import type { Store } from './storage/store.ts'
import { openAccess, smallApi, start, textOf } from './testing/small-api.ts'

/** A store whose disk is full while `full.is`. */
function fillable(full: { is: boolean }): Store {
  const store = createMemoryStore({ clock: createManualClock(start) })
  return Object.create(store, {
    write: {
      value: async (write: Parameters<Store['write']>[0]) => {
        if (full.is) throw new RollcallError('STORAGE_FAILED', 'state.db: database or disk is full')
        return store.write(write)
      },
    },
  })
}

describe('an API whose disk is full', () => {
  it('refuses writes, goes on reading, is not ready, and recovers', async () => {
    const full = { is: false }
    const api = smallApi({ store: fillable(full) })
    await api.call('POST', '/api/v1/nodes', { metadata: { name: 'a' } })
    full.is = true
    await assert.rejects(api.call('POST', '/api/v1/nodes', { metadata: { name: 'b' } }), {
      message: '500 state.db: database or disk is full',
    })
    assert.equal((await api.call('GET', '/api/v1/nodes/a')).metadata.name, 'a')
    const ready = await api.handle('GET', '/readyz')
    assert.equal(ready.status, 500)
    assert.match(textOf(ready), /\[-\]storage failed: reason withheld\n/)
    full.is = false
    await api.call('POST', '/api/v1/nodes', { metadata: { name: 'b' } })
    assert.equal((await api.handle('GET', '/readyz')).status, 200)
  })
})

describe('an API with a bug below it', () => {
  it('answers 500 without telling what it was, and logs it', async () => {
    const log = recordingLog()
    const access = {
      ...openAccess,
      admit() {
        throw new Error('password=hunter2')
      },
    }
    const api = smallApi({ access, log })
    const response = await api.handle('POST', '/api/v1/nodes', { metadata: { name: 'a' } })
    assert.equal(response.status, 500)
    assert.doesNotMatch(textOf(response), /hunter2/)
    assert.equal(log.lines.length, 1)
  })
})

describe('bodies made to harm', () => {
  const bodies: [what: string, body: string][] = [
    ['with a prototype', '{"metadata":{"name":"a"},"__proto__":{"x":1}}'],
    ['with a prototype deep inside', '{"metadata":{"name":"a"},"spec":{"a":[{"__proto__":{}}]}}'],
    ['nested without end', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`],
    ['nested lists without end', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['that are a list', '[]'],
    ['that are nothing', 'null'],
    ['of metadata that is a list', '{"metadata":[]}'],
    ['of owners that are text', '{"metadata":{"name":"a","ownerReferences":["x"]}}'],
  ]
  for (const [what, body] of bodies) {
    it(`${what} are refused with 400`, async () => {
      const response = await smallApi().handle('POST', '/api/v1/nodes', body)
      assert.equal(response.status, 400)
    })
  }

  it('with YAML aliases that multiply are refused with 400', async () => {
    const bomb = 'a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n'
    const type = { 'content-type': 'application/yaml' }
    assert.equal((await smallApi().handle('POST', '/api/v1/nodes', bomb, type)).status, 400)
  })
})
