import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../kube/client.ts'
import type { SubjectAccessReview } from '../kube/types.ts'
import { inMemoryTransport, json, refusal } from '../testing/in-memory-transport.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { createNodeAccess, nodeRequestOf } from './node-access.ts'

const user = { username: 'prometheus', groups: ['monitoring', 'system:authenticated'] }

/** An API that allows these subresources. */
function reviewer(allowed: string[]) {
  const clock = createManualClock(0)
  const asked: SubjectAccessReview['spec'][] = []
  const transport = inMemoryTransport(({ body }) => {
    const review = JSON.parse(new TextDecoder().decode(body)) as SubjectAccessReview
    asked.push(review.spec)
    const subresource = review.spec.resourceAttributes?.subresource ?? ''
    return json(201, { ...review, status: { allowed: allowed.includes(subresource) } })
  })
  return {
    clock,
    asked,
    access: createNodeAccess({ client: createClient(transport), clock, nodeName: 'node-a' }),
  }
}

test('H-3: method and path become a verb and subresources of nodes', () => {
  const table: [string, string, string, string[]][] = [
    ['GET', '/metrics', 'get', ['metrics']],
    ['GET', '/metrics/cadvisor', 'get', ['metrics']],
    ['GET', '/metricsx', 'get', ['proxy']],
    ['GET', '/healthz', 'get', ['healthz', 'proxy']],
    ['POST', '/pods', 'create', ['pods', 'proxy']],
    ['GET', '/containerLogs/default/web/main', 'get', ['proxy']],
    ['PUT', '/anything', 'update', ['proxy']],
    ['DELETE', '/logs/a', 'delete', ['log']],
  ]
  for (const [method, path, verb, subresources] of table) {
    assert.deepEqual(nodeRequestOf(method, path), { verb, subresources }, path)
  }
})

test('whoever runs a command needs create, by whatever method he asks', () => {
  for (const path of ['/exec/a/b/c', '/attach/a/b/c', '/run/a/b/c', '/portForward/a/b'])
    for (const method of ['GET', 'POST'])
      assert.deepEqual(nodeRequestOf(method, path), { verb: 'create', subresources: ['proxy'] })
})

test('H-3: the review names the user, his groups, the verb and this node', async () => {
  const { access, asked } = reviewer(['metrics'])
  assert.equal(await access.allows(user, nodeRequestOf('GET', '/metrics')), true)
  assert.deepEqual(asked, [
    {
      user: 'prometheus',
      groups: ['monitoring', 'system:authenticated'],
      resourceAttributes: {
        verb: 'get',
        version: 'v1',
        resource: 'nodes',
        subresource: 'metrics',
        name: 'node-a',
      },
    },
  ])
})

test('one allowed subresource of several suffices, in their order', async () => {
  const { access, asked } = reviewer(['proxy'])
  assert.equal(await access.allows(user, nodeRequestOf('GET', '/healthz')), true)
  assert.deepEqual(
    asked.map(spec => spec.resourceAttributes?.subresource),
    ['healthz', 'proxy'],
  )
})

test('H-2: a permission is kept for five minutes, a refusal for 30 seconds', async () => {
  const allowed = reviewer(['metrics'])
  const refused = reviewer([])
  const times = async ({ access, asked, clock }: ReturnType<typeof reviewer>, seconds: number) => {
    asked.length = 0
    await access.allows(user, nodeRequestOf('GET', '/metrics'))
    await clock.advance(seconds * 1000)
    await access.allows(user, nodeRequestOf('GET', '/metrics'))
    return asked.length
  }
  assert.equal(await times(allowed, 299), 1)
  assert.equal(await times(refused, 29), 1)
  assert.equal(await times(reviewer(['metrics']), 300), 2)
  assert.equal(await times(reviewer([]), 30), 2)
})

test('an API that refuses the question is an error, not a refusal', async () => {
  const client = createClient(inMemoryTransport(() => refusal(403, 'Forbidden')))
  const access = createNodeAccess({ client, clock: createManualClock(0), nodeName: 'node-a' })
  await assert.rejects(access.allows(user, nodeRequestOf('GET', '/metrics')), /403 Forbidden/)
})
