import assert from 'node:assert/strict'
import { it } from 'node:test'
import { requestInfo } from '../request-info.ts'
import { indexResources } from '../resource-index.ts'
import { smallResources } from '../testing/small-api.ts'
import { requestLabels } from './request-labels.ts'

const labels = (method: string, url: string) =>
  requestLabels(requestInfo(method, url), indexResources(smallResources))

it('names what a request is about as kube-apiserver does', () => {
  assert.deepEqual(labels('POST', '/api/v1/namespaces/default/configmaps?dryRun=All'), {
    verb: 'POST',
    dry_run: 'All',
    group: '',
    version: 'v1',
    resource: 'configmaps',
    subresource: '',
    scope: 'resource',
    component: 'apiserver',
  })
  const { scope, verb } = labels('GET', '/api/v1/configmaps?watch=1')
  assert.deepEqual([scope, verb], ['cluster', 'WATCH'])
  assert.equal(labels('GET', '/api/v1/namespaces/default/configmaps').scope, 'namespace')
  assert.equal(labels('PUT', '/api/v1/nodes/a/status').subresource, 'status')
  assert.equal(labels('GET', '/readyz').subresource, '/readyz')
})

it('takes no label value from the client', () => {
  const blank = { group: '', version: '', resource: '', subresource: '', scope: '' }
  for (const url of ['/apis/evil.example/v7/things/x/y', '/anything', '/readyz/x', '/api/v1/__proto__']) {
    assert.deepEqual({ ...labels('GET', url), ...blank }, labels('GET', url))
  }
  assert.equal(labels('BREW', '/api/v1/nodes').verb, 'other')
  assert.equal(labels('GET', '/api/v1/nodes/a/constructor').subresource, '')
  assert.equal(labels('GET', '/api/v1/nodes?dryRun=evil').dry_run, '')
})
