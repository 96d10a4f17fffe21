import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { inMemoryTransport, json, refusal } from '../testing/in-memory-transport.ts'
import { ApiStatusError, createClient, isExpired, isStatus, listAll } from './client.ts'
import type { ApiResponse } from './transport.ts'
import { type KubeNode, type Lease, resources } from './types.ts'

const node = (name: string): KubeNode => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
const ok = (body: unknown) => inMemoryTransport(() => json(200, body))
const sent = (transport: ReturnType<typeof ok>) =>
  transport.requests.map(({ method, url }) => `${method} ${url}`)

test('paths carry group, namespace, name and subresource, each escaped', async () => {
  const transport = ok(node('a'))
  const client = createClient(transport)
  const lease: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'a b', namespace: 'kube-node-lease' },
  }
  await client.get(resources.nodes, { name: 'system:node:a?x' })
  await client.get(resources.nodes, { name: 'a', subresource: 'status' })
  await client.update(resources.leases, lease)
  await client.create(resources.leases, lease)
  await client.list(resources.leases, { namespace: 'kube-system' })
  await client.list(resources.leases, { labelSelector: 'a=b,c', fieldSelector: 'metadata.name=x', limit: 5 })
  await client.create(
    resources.serviceAccounts,
    { ...lease, metadata: { name: 's', namespace: 'n' } },
    { subresource: 'token' },
  )
  assert.deepEqual(sent(transport), [
    'GET /api/v1/nodes/system%3Anode%3Aa%3Fx',
    'GET /api/v1/nodes/a/status',
    'PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a%20b',
    'POST /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    'GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases',
    'GET /apis/coordination.k8s.io/v1/leases?labelSelector=a%3Db%2Cc&fieldSelector=metadata.name%3Dx&limit=5',
    'POST /api/v1/namespaces/n/serviceaccounts/s/token',
  ])
})

test('a name that would address something else is refused before anything is sent', async () => {
  const transport = ok({})
  const client = createClient(transport)
  for (const name of ['', '.', '..', 'a/b']) {
    await assert.rejects(client.delete(resources.nodes, { name }), error => hasCode(error, 'USAGE'))
  }
  await assert.rejects(client.get(resources.leases, { name: 'a' }), /needs a namespace/)
  assert.equal(transport.requests.length, 0)
})

test('each kind of patch has its content type', async () => {
  const transport = ok(node('a'))
  const client = createClient(transport)
  for (const kind of ['json', 'merge', 'strategic-merge'] as const) {
    await client.patch(resources.nodes, { name: 'a' }, kind, { metadata: {} })
  }
  assert.deepEqual(
    transport.requests.map(request => request.headers['content-type']),
    ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json'],
  )
})

test('a deletion carries its preconditions', async () => {
  const transport = ok(node('a'))
  await createClient(transport).delete(resources.nodes, { name: 'a' }, { uid: 'u', resourceVersion: '7' })
  assert.deepEqual(JSON.parse(new TextDecoder().decode(transport.requests[0]?.body)), {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: { uid: 'u', resourceVersion: '7' },
  })
})

test('a refusal keeps the Status the server gave', async () => {
  const client = createClient(inMemoryTransport(() => refusal(404, 'NotFound', 'nodes "a" not found')))
  await assert.rejects(client.get(resources.nodes, { name: 'a' }), (error: unknown) => {
    assert.ok(isStatus(error, 'NotFound'))
    assert.equal(error.status.code, 404)
    assert.equal(error.message, 'GET /api/v1/nodes/a: nodes "a" not found (404 NotFound)')
    assert.ok(!isStatus(error, 'Conflict'))
    return true
  })
})

test("a refusal without a Status, as a proxy's, gets the reason of its code", async () => {
  const body = new TextEncoder().encode('<html>busy</html>')
  const client = createClient(inMemoryTransport(() => ({ status: 429, headers: {}, body })))
  await assert.rejects(client.get(resources.nodes, { name: 'a' }), error =>
    isStatus(error, 'TooManyRequests'),
  )
})

test('an answer that is no JSON is reported as no Kubernetes API', async () => {
  const client = createClient(
    inMemoryTransport(() => ({ status: 200, headers: {}, body: new TextEncoder().encode('hi') })),
  )
  await assert.rejects(client.get(resources.nodes, { name: 'a' }), error => hasCode(error, 'API_UNREACHABLE'))
})

test('listed items get the apiVersion and kind that the server leaves out', async () => {
  const client = createClient(
    ok({ metadata: { resourceVersion: '5' }, items: [{ metadata: { name: 'a' } }] }),
  )
  assert.deepEqual((await client.list(resources.nodes)).items, [node('a')])
  const leases = await createClient(ok({ metadata: {}, items: [{ metadata: { name: 'a' } }] })).list(
    resources.leases,
  )
  assert.equal(leases.items[0]?.apiVersion, 'coordination.k8s.io/v1')
})

test('an empty list of Go, null, is an empty list', async () => {
  assert.deepEqual((await createClient(ok({ metadata: {}, items: null })).list(resources.nodes)).items, [])
})

test('listAll follows the pages and names the version only on the first', async () => {
  const pages = [
    { metadata: { resourceVersion: '5', continue: 'next', remainingItemCount: 1 }, items: [node('a')] },
    { metadata: { resourceVersion: '5' }, items: [node('b')] },
  ]
  const transport = inMemoryTransport((_, index) => json(200, pages[index]))
  const list = await listAll(createClient(transport), resources.nodes, { resourceVersion: '0' })
  assert.deepEqual(
    list.items.map(item => item.metadata.name),
    ['a', 'b'],
  )
  assert.deepEqual(list.metadata, { resourceVersion: '5' })
  assert.deepEqual(sent(transport), [
    'GET /api/v1/nodes?resourceVersion=0&limit=500',
    'GET /api/v1/nodes?continue=next&limit=500',
  ])
})

test('listAll starts again in one piece when its snapshot is gone', async () => {
  const answers: ApiResponse[] = [
    json(200, { metadata: { resourceVersion: '5', continue: 'next' }, items: [node('a')] }),
    refusal(410, 'Expired'),
    json(200, { metadata: { resourceVersion: '9' }, items: [node('b'), node('c')] }),
  ]
  const transport = inMemoryTransport((_, index) => answers[index] ?? refusal(500, 'InternalError'))
  const list = await listAll(createClient(transport), resources.nodes)
  assert.deepEqual(
    list.items.map(item => item.metadata.name),
    ['b', 'c'],
  )
  assert.equal(list.metadata.resourceVersion, '9')
  assert.equal(sent(transport)[2], 'GET /api/v1/nodes')
})

function watching(lines: unknown[]) {
  const body = new TextEncoder().encode(lines.map(line => `${JSON.stringify(line)}\n`).join(''))
  return createClient(inMemoryTransport(() => ({ status: 200, headers: {}, body })))
}

test('a watch yields the events and throws the ERROR event as ApiStatusError', async () => {
  const client = watching([
    { type: 'ADDED', object: node('a') },
    { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } },
  ])
  const names: string[] = []
  await assert.rejects(
    async () => {
      for await (const event of client.watch(resources.nodes, { resourceVersion: '1' }))
        names.push(event.object.metadata.name)
    },
    error => isExpired(error) && isStatus(error, 'Expired'),
  )
  assert.deepEqual(names, ['a'])
})

test('a watch that is refused throws the Status', async () => {
  const client = createClient(inMemoryTransport(() => refusal(403, 'Forbidden')))
  await assert.rejects(async () => {
    for await (const _ of client.watch(resources.nodes)) assert.fail('no event')
  }, ApiStatusError)
})

test('a watch asks for what its options say and ends quietly when aborted', async () => {
  const abort = new AbortController()
  const transport = inMemoryTransport(({ signal }) => ({
    status: 200,
    headers: {},
    body: (async function* () {
      yield new TextEncoder().encode(`${JSON.stringify({ type: 'ADDED', object: node('a') })}\n`)
      while (!signal?.aborted) await new Promise(resolve => signal?.addEventListener('abort', resolve))
    })(),
  }))
  const options = { resourceVersion: '7', timeoutSeconds: 300, allowBookmarks: true, signal: abort.signal }
  for await (const _ of createClient(transport).watch(resources.nodes, options)) abort.abort()
  assert.deepEqual(sent(transport), [
    'GET /api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300',
  ])
})

test('raw gives the text of any path', async () => {
  const client = createClient(
    inMemoryTransport(() => ({ status: 200, headers: {}, body: new TextEncoder().encode('ok') })),
  )
  assert.equal(await client.raw('/readyz'), 'ok')
})
