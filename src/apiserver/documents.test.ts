import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentsOf } from './documents.ts'
import { requestInfo } from './request-info.ts'
import { allResources } from './resources/index.ts'
import { start } from './testing/small-api.ts'

const documents = documentsOf(allResources, { now: () => start })
const get = (url: string, headers: Record<string, string> = {}) =>
  documents({ method: 'GET', url, headers }, requestInfo('GET', url))

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'

test('what is asked by its hash may be kept for good, aggregated discovery until it changes, all else not', () => {
  const root = JSON.parse(Buffer.from((get('/openapi/v3')?.body as Uint8Array) ?? []).toString())
  const { serverRelativeURL: url } = root.paths['api/v1']
  const caching = (asked: string, headers = {}) => get(asked, headers)?.headers['cache-control']
  assert.equal(caching(url), 'public, immutable')
  assert.equal(get(url)?.headers.expires, 'Mon, 01 Mar 2027 12:00:00 GMT')
  assert.equal(caching('/apis', { accept: aggregated }), 'public')
  for (const other of [
    '/apis',
    '/apis/certificates.k8s.io/v1',
    '/version',
    '/openapi/v3',
    '/openapi/v3/api/v1',
  ])
    assert.equal(caching(other), 'no-cache, private', other)
})

test('an outdated hash leads to the document as it is', () => {
  const { status, headers } = get('/openapi/v3/api/v1?hash=00') ?? {}
  assert.equal(status, 301)
  assert.equal(get(headers?.location ?? '')?.status, 200)
})

test('a client whose copy is current is told so', () => {
  const { etag = '' } = get('/apis', { accept: aggregated })?.headers ?? {}
  assert.equal(get('/apis', { accept: aggregated, 'if-none-match': etag })?.status, 304)
  assert.equal(get('/apis', { 'if-none-match': etag })?.status, 200)
})
