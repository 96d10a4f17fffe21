import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { createClient } from '../kube/client.ts'
import { type KubeNode, resources } from '../kube/types.ts'
import { collectionServer } from '../testing/collection-server.ts'
import { inMemoryTransport, json, refusal } from '../testing/in-memory-transport.ts'
import { settle } from '../testing/manual-clock.ts'
import { ApiSession } from './api-session.ts'

const get = { method: 'GET', url: '/api/v1/nodes', headers: {} }

test('K-6: without a credential requests are not sent anonymously, they are refused here', async () => {
  const session = new ApiSession(() => {})
  assert.equal(session.ready, false)
  await assert.rejects(session.request(get), error => hasCode(error, 'CREDENTIAL_UNAVAILABLE'))
})

test('every answer is told with the certificate that it was given to', async () => {
  const heard: string[] = []
  const session = new ApiSession((serial, status) => heard.push(`${serial} ${status}`))
  session.use({ transport: inMemoryTransport(() => json(200, {})), serial: '1' })
  await session.request(get)
  session.use({ transport: inMemoryTransport(() => refusal(401, 'Unauthorized')), serial: '2' })
  assert.equal((await session.request(get)).status, 401)
  assert.deepEqual(heard, ['1 200', '2 401'])
})

test('K-51: a new credential ends the watches of the old one and then closes its connections', async () => {
  const server = collectionServer('/api/v1/nodes')
  let closed = 0
  const old = { ...server, closeConnections: () => void closed++ }
  const session = new ApiSession(() => {})
  session.use({ transport: old, serial: '1' })
  const seen: string[] = []
  const watching = (async () => {
    for await (const event of createClient(session).watch<KubeNode>(resources.nodes, {
      resourceVersion: '1',
    })) {
      seen.push(event.object.metadata.name)
    }
  })()
  await settle()
  server.put('a')
  await settle()
  assert.equal(server.openWatches(), 1)
  session.use({ transport: inMemoryTransport(() => json(200, {})), serial: '2' })
  await watching
  assert.deepEqual([seen, server.openWatches(), closed], [['a'], 0, 1])
})

test('report 93: a request under way gets its answer from the old credential before the connections close', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const old = inMemoryTransport(async () => {
    await promise
    return json(201, {})
  })
  const session = new ApiSession(() => {})
  session.use({ transport: old, serial: '1' })
  const answer = session.request({ ...get, method: 'POST' })
  session.use(undefined)
  assert.equal(old.closed, 0)
  resolve()
  assert.equal((await answer).status, 201)
  assert.equal(old.closed, 1)
})

test("the caller's signal reaches the transport, and leaves nothing behind", async () => {
  const abort = new AbortController()
  let passed: AbortSignal | undefined
  const session = new ApiSession(() => {})
  const transport = inMemoryTransport(request => {
    passed = request.signal
    return new Promise(() => {})
  })
  session.use({ transport, serial: '1' })
  void session.request({ ...get, signal: abort.signal })
  await settle()
  assert.equal(passed?.aborted, false)
  abort.abort()
  assert.equal(passed?.aborted, true)
})
