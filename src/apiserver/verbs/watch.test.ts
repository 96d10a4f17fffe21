import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readJsonLines } from '../../kube/json-lines.ts'
import type { Status, WatchEvent } from '../../kube/types.ts'
import { settle } from '../../testing/manual-clock.ts'
import { type SmallApi, type Spec, smallApi } from '../testing/small-api.ts'

const nodes = '/api/v1/nodes'
const merge = { 'content-type': 'application/merge-patch+json' }

/** Reads a watch in the background. */
async function watching(api: SmallApi, query: string, headers: Record<string, string> = {}) {
  const leave = new AbortController()
  const response = await api.handle('GET', `${nodes}?watch=1&${query}`, undefined, headers, leave.signal)
  assert.equal(response.status, 200)
  assert.ok(!(response.body instanceof Uint8Array))
  const { body } = response
  const events: WatchEvent<Spec>[] = []
  const reading = (async () => {
    for await (const event of readJsonLines(body)) events.push(event as WatchEvent<Spec>)
  })()
  return {
    events,
    over: reading,
    leave: () => leave.abort(),
    /** What came since the last call, as `TYPE name@version`. */
    async seen() {
      await settle()
      return events
        .splice(0)
        .map(({ type, object }) => `${type} ${object.metadata.name ?? ''}@${object.metadata.resourceVersion}`)
    },
  }
}

const create = (api: SmallApi, name: string, more: Partial<Spec> = {}) =>
  api.call('POST', nodes, { ...more, metadata: { name, ...more.metadata } })

describe('a watch', () => {
  it('begins with what is there and goes on with what happens', async () => {
    const api = smallApi()
    await create(api, 'a')
    const watch = await watching(api, '')
    assert.deepEqual(await watch.seen(), ['ADDED a@2'])
    await create(api, 'b')
    await api.call('PATCH', `${nodes}/a`, { spec: { x: 1 } }, merge)
    await api.call('DELETE', `${nodes}/a`)
    assert.deepEqual(await watch.seen(), ['ADDED b@3', 'MODIFIED a@4', 'DELETED a@5'])
    watch.leave()
    await watch.over
    assert.equal(api.clock.pending(), 0)
  })

  it('W-6: resumes after a revision', async () => {
    const api = smallApi()
    for (const name of ['a', 'b', 'c']) await create(api, name)
    const watch = await watching(api, 'resourceVersion=2')
    assert.deepEqual(await watch.seen(), ['ADDED b@3', 'ADDED c@4'])
    watch.leave()
  })

  it('W-6: tells a revision that is forgotten by an ERROR event with 410', async () => {
    const api = smallApi()
    for (const name of ['a', 'b', 'c']) await create(api, name)
    api.store.compact(3)
    const watch = await watching(api, 'resourceVersion=2')
    await watch.over
    const status = watch.events[0]?.object as unknown as Status
    assert.deepEqual(
      [watch.events.length, watch.events[0]?.type, status.code, status.reason, status.message],
      [1, 'ERROR', 410, 'Expired', 'too old resource version: 2 (3)'],
    )
  })

  it('shows an object that comes into the selection as added and one that leaves it as deleted', async () => {
    const api = smallApi()
    await create(api, 'a', { spec: { colour: 'red' } })
    const watch = await watching(api, 'fieldSelector=spec.colour%3Dblue')
    await api.call('PATCH', `${nodes}/a`, { spec: { colour: 'blue' } }, merge)
    await api.call('PATCH', `${nodes}/a`, { spec: { size: 1 } }, merge)
    await api.call('PATCH', `${nodes}/a`, { spec: { colour: 'red' } }, merge)
    assert.deepEqual(await watch.seen(), ['ADDED a@3', 'MODIFIED a@4', 'DELETED a@5'])
    watch.leave()
  })

  it('of one name sees that name only', async () => {
    const api = smallApi()
    const watch = await watching(api, 'fieldSelector=metadata.name%3Dnode-1')
    await create(api, 'node-10')
    await create(api, 'node-1')
    assert.deepEqual(await watch.seen(), ['ADDED node-1@3'])
    watch.leave()
  })

  it('sends a bookmark every minute when asked to, and one at the end', async () => {
    const api = smallApi()
    const watch = await watching(api, 'resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=90')
    await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'x' } })
    await api.clock.advance(60_000)
    assert.deepEqual(await watch.seen(), ['BOOKMARK @2'])
    await api.clock.advance(30_000)
    await watch.over
    assert.deepEqual(await watch.seen(), ['BOOKMARK @2'])
    assert.equal(api.clock.pending(), 0)
  })

  it('ends by itself after 30 to 60 minutes', async () => {
    const api = smallApi()
    const watch = await watching(api, '')
    await api.clock.advance(60 * 60 * 1000)
    await watch.over
  })

  it('W-5: as a WatchList ends the state with a bookmark that says so', async () => {
    const api = smallApi()
    for (const name of ['a', 'b']) await create(api, name)
    const watch = await watching(
      api,
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    )
    await settle()
    assert.deepEqual(watch.events[2]?.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' })
    assert.equal(watch.events[2]?.object.kind, 'Node')
    await create(api, 'c')
    assert.deepEqual(await watch.seen(), ['ADDED a@2', 'ADDED b@3', 'BOOKMARK @3', 'ADDED c@4'])
    watch.leave()
    await assert.rejects(api.call('GET', `${nodes}?watch=1&sendInitialEvents=true`), {
      message:
        '422 ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    })
  })

  it('gives Tables, with columns in the first only', async () => {
    const api = smallApi()
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const watch = await watching(api, '', { accept })
    for (const name of ['a', 'b']) await create(api, name)
    await settle()
    const tables = watch.events.map(event => event.object as unknown as Record<string, unknown[]>)
    assert.deepEqual(
      tables.map(table => [table.columnDefinitions?.length, table.rows?.length]),
      [
        [1, 1],
        [undefined, 1],
      ],
    )
    watch.leave()
  })

  it('is ended where it can be resumed when its reader falls behind', async () => {
    const api = smallApi({ limits: { watchBacklog: 3 } })
    const response = await api.handle('GET', `${nodes}?watch=1&resourceVersion=1`)
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create(api, name)
    // Ended for the server at once, whether or not anybody reads what is left.
    assert.equal(api.clock.pending(), 0)
    assert.ok(!(response.body instanceof Uint8Array))
    const versions: string[] = []
    for await (const event of readJsonLines(response.body))
      versions.push((event as WatchEvent).object.metadata.resourceVersion ?? '')
    assert.deepEqual(versions, ['2', '3', '4'])
    const rest = await watching(api, 'resourceVersion=4')
    assert.deepEqual(await rest.seen(), ['ADDED d@5', 'ADDED e@6'])
    rest.leave()
  })

  it('makes the line of an event once for all that watch', async () => {
    const api = smallApi()
    const bodies: AsyncIterator<Uint8Array>[] = []
    for (let n = 0; n < 3; n++) {
      const { body } = await api.handle('GET', `${nodes}?watch=1&resourceVersion=1`)
      assert.ok(!(body instanceof Uint8Array))
      bodies.push(body[Symbol.asyncIterator]())
    }
    await create(api, 'a')
    const chunks = await Promise.all(bodies.map(async body => (await body.next()).value as Uint8Array))
    assert.ok(chunks.every(chunk => chunk === chunks[0]))
    await api.api.close()
  })

  it('can be left while it waits', async () => {
    const api = smallApi()
    const { body } = await api.handle('GET', `${nodes}?watch=1`)
    assert.ok(!(body instanceof Uint8Array))
    const iterator = body[Symbol.asyncIterator]()
    const waiting = iterator.next()
    await iterator.return?.()
    assert.equal((await waiting).done, true)
    assert.equal(api.clock.pending(), 0)
  })
})
