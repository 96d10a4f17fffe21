import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { smallApi, textOf } from './testing/small-api.ts'

const nodes = '/api/v1/nodes'

describe('paths', () => {
  const answers: [method: string, url: string, status: number, text: string][] = [
    ['GET', '/healthz', 200, 'ok'],
    ['GET', '/readyz/ping', 200, 'ok'],
    ['GET', '/readyz/nonsense', 404, '404 page not found\n'],
    ['GET', '/nonsense', 404, '404 page not found\n'],
    ['GET', '/apis/no.such/v1/things', 404, '404 page not found\n'],
    ['GET', '/api/v1/things', 404, 'the server could not find the requested resource'],
    ['GET', '/api/v1/nodes/n/nonsense', 404, 'the server could not find the requested resource'],
    ['POST', '/api/v1/nodes/n', 405, 'the server does not allow this method on the requested resource'],
    ['POST', '/api/v1/configmaps', 405, 'the server does not allow this method on the requested resource'],
    ['GET', '/api/v1/namespaces/x/nodes', 404, 'the server could not find the requested resource'],
  ]
  for (const [method, url, status, text] of answers) {
    it(`answers ${status} to ${method} ${url}`, async () => {
      const response = await smallApi().handle(method, url, method === 'POST' ? {} : undefined)
      const body = textOf(response)
      const shown = response.headers['content-type'] === 'application/json' ? JSON.parse(body).message : body
      assert.deepEqual([response.status, shown], [status, text])
    })
  }

  it('answers HEAD without a body and leaves no watch behind', async () => {
    const api = smallApi()
    const response = await api.handle('HEAD', `${nodes}?watch=1`)
    assert.deepEqual([response.status, textOf(response), api.clock.pending()], [200, '', 0])
  })

  it('lists the checks when asked to be verbose', async () => {
    const body = textOf(await smallApi().handle('GET', '/livez?verbose'))
    assert.match(body, /^\[\+\]ping ok\n[\s\S]*livez check passed\n$/)
  })

  it('is not ready before what belongs to its start is in place, and after its end was announced, but alive', async () => {
    let seeded = false
    const name = 'poststarthook/rbac/bootstrap-roles'
    const api = smallApi({ readyChecks: { [name]: () => (seeded ? undefined : 'not finished') } })
    const get = async (url: string) => {
      const response = await api.handle('GET', url)
      return [response.status, textOf(response)]
    }
    assert.deepEqual(await get(`/readyz/${name}`), [500, 'internal server error: reason withheld\n'])
    assert.equal((await get('/readyz'))[0], 500)
    seeded = true
    assert.deepEqual(await get('/readyz'), [200, 'ok'])
    api.api.beginShutdown()
    assert.match(
      String((await get('/readyz'))[1]),
      /\[-\]shutdown failed: reason withheld\nreadyz check failed\n$/,
    )
    assert.deepEqual(await get('/livez'), [200, 'ok'])
    await api.call('POST', nodes, { metadata: { name: 'still-served' } })
  })

  it('answers reviews without storing them', async () => {
    const api = smallApi()
    const url = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
    const response = await api.handle('POST', url, { spec: {} })
    assert.equal(response.status, 201)
    assert.equal(JSON.parse(textOf(response)).status.reason, 'tester')
    assert.equal(api.store.revision, 1)
    await assert.rejects(api.call('GET', url), { message: /^405 / })
  })

  it('refuses everything with 503 after it was closed', async () => {
    const api = smallApi()
    await api.api.close()
    await assert.rejects(api.call('GET', nodes), { message: '503 the server is shutting down' })
    assert.equal(api.clock.pending(), 0)
  })
})
