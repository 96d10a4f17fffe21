import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { describe, it } from 'node:test'
import { Secret } from '../keys/secret.ts'
import { connectUndici } from '../kube/undici-transport.ts'
import { silentLog } from '../ports.ts'
import { foreignPair } from '../testing/https-server.ts'
import { createManualClock, settle } from '../testing/manual-clock.ts'
import type { Access } from './access/access.ts'
import { defaultFairness } from './fairness/limits.ts'
import { serve } from './http/server.ts'
import { createMemoryStore } from './storage/memory-store.ts'
import { configMap, openAccess, type SmallApi, smallApi, start, textOf } from './testing/small-api.ts'

const { node } = defaultFairness.levels
const maps = '/api/v1/namespaces/default/configmaps'

/** Everybody is who the header `x-user` says. */
const namedAccess: Access = {
  ...openAccess,
  authenticate({ headers }) {
    const username = headers['x-user'] ?? 'admin'
    const groups = username.startsWith('system:node:') ? ['system:nodes'] : ['system:masters']
    return { user: { username, groups } }
  },
}

const asNode = (name: string) => ({ 'x-user': `system:node:${name}` })

async function namedApi() {
  const clock = createManualClock(start)
  const store = createMemoryStore({ clock })
  let disk: Promise<void> | undefined
  const slow: typeof store = {
    ...store,
    get revision() {
      return store.revision
    },
    async write(write) {
      await disk
      return store.write(write)
    },
  }
  const api = smallApi({ clock, store: slow, access: namedAccess })
  await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } })
  /** From now on writes wait; the function returned lets them go on. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    disk = promise
    return resolve
  }
  return { api, hold, clock }
}

const posts = (api: SmallApi, name: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    api.handle('POST', maps, configMap(`${name}-${index}`), asNode(name)),
  )

describe('fairness', () => {
  it('answers 429 with Retry-After to a node that has too much under way, and serves the others', async () => {
    const { api, hold } = await namedApi()
    const letGo = hold()
    const greedy = posts(api, 'greedy', node.running + node.waiting + 10)
    const modest = posts(api, 'modest', 5)
    await settle()
    const read = await api.handle('GET', '/api/v1/namespaces', undefined, asNode('shy'))
    assert.equal(read.status, 200)
    letGo()
    const answers = await Promise.all(greedy)
    const refused = answers.filter(({ status }) => status === 429)
    assert.equal(refused.length, 10)
    assert.equal(answers.filter(({ status }) => status === 201).length, node.running + node.waiting)
    const [first] = refused
    assert.ok(first)
    assert.equal(first.headers['retry-after'], '1')
    assert.equal(textOf(first), 'Too many requests, please try again later.\n')
    for (const { status } of await Promise.all(modest)) assert.equal(status, 201)
  })

  it('tells its health to a client that is refused everything else', async () => {
    const { api } = await namedApi()
    for (let i = 0; i < (node.rate?.burst ?? 0); i++)
      await api.handle('GET', '/api/v1/nodes', undefined, asNode('a'))
    assert.equal((await api.handle('GET', '/api/v1/nodes', undefined, asNode('a'))).status, 429)
    assert.equal((await api.handle('GET', '/readyz', undefined, asNode('a'))).status, 200)
  })

  it('counts a watch until its stream is over, whether it was read or not', async () => {
    const { api, clock } = await namedApi()
    const watch = async (signal?: AbortSignal) =>
      api.handle('GET', '/api/v1/nodes?watch=1', undefined, asNode('a'), signal)
    const gone = new AbortController()
    const open = []
    for (let i = 0; i < node.watches; i++) {
      // As fast as the node's rate allows.
      await clock.advance(10)
      open.push(await watch(i === 0 ? gone.signal : undefined))
    }
    await clock.advance(1000)
    assert.equal((await watch()).status, 429)
    const [first, second] = open.map(({ body }) =>
      (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator](),
    )
    await second?.return?.()
    assert.equal((await watch()).status, 200)
    gone.abort()
    await first?.next()
    assert.equal((await watch()).status, 200)
    assert.equal((await watch()).status, 429)
  })

  it('waits at its end until what is under way is answered', async () => {
    const { api, hold } = await namedApi()
    const letGo = hold()
    const [post] = posts(api, 'a', 1)
    await settle()
    let closed = false
    const closing = api.api.close().then(() => {
      closed = true
    })
    await settle()
    assert.equal(closed, false)
    letGo()
    assert.equal((await post)?.status, 201)
    await closing
  })

  it('keeps a node that floods its connection from starving another, over TLS', async t => {
    const { api } = await namedApi()
    const pair = await foreignPair('apiserver')
    const tls = { ...pair, key: new Secret(pair.key), clientCertificateAuthorities: pair.certificate }
    const server = await serve({ api: api.api, port: 0, tls, clock: api.clock, log: silentLog })
    t.after(() => server.close())
    const session = connect(`https://127.0.0.1:${server.port}`, { ca: pair.certificate })
    t.after(() => session.destroy())
    const flood = Array.from(
      { length: 1000 },
      () =>
        new Promise<number>((resolve, reject) => {
          const stream = session.request({ ':path': maps, 'x-user': 'system:node:greedy' })
          stream.on('response', headers => resolve(headers[':status'] ?? 0))
          stream.on('error', reject)
          stream.resume()
        }),
    )
    const modest = connectUndici({
      server: `https://127.0.0.1:${server.port}`,
      certificateAuthority: pair.certificate,
    })
    t.after(() => modest.closeConnections())
    for (let i = 0; i < 20; i++) {
      const answer = await modest.request({ method: 'GET', url: maps, headers: asNode('modest') })
      assert.equal(answer.status, 200)
    }
    const statuses = await Promise.all(flood)
    // The clock stands still, so no more than one burst gets through.
    assert.ok(statuses.filter(status => status === 200).length <= (node.rate?.burst ?? 0))
    assert.ok(statuses.every(status => status === 200 || status === 429))
  })
})
