import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from './api-error.ts'
import { negotiate, negotiateDiscovery } from './negotiate.ts'

test('the answer takes the first form of the Accept header that is served', () => {
  const cases: [string | undefined, string][] = [
    [undefined, 'json v1'],
    ['', 'json v1'],
    ['*/*', 'json v1'],
    ['application/json, */*', 'json v1'],
    ['application/vnd.kubernetes.protobuf,application/json', 'json v1'],
    ['application/vnd.kubernetes.protobuf, */*', 'json v1'],
    ['application/json;stream=watch', 'json v1'],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'table v1'],
    ['application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json', 'table v1beta1'],
    ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', 'json v1'],
    ['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', 'partial-metadata v1'],
    ['application/json;q=0.1,application/json;as=Table;v=v1;g=meta.k8s.io', 'table v1'],
  ]
  for (const [header, expected] of cases) {
    const { kind, version } = negotiate(header)
    assert.equal(`${kind} ${version}`, expected, header)
  }
})

test('an Accept header with nothing that is served is answered with 406', () => {
  for (const header of [
    'application/vnd.kubernetes.protobuf',
    'text/html',
    'application/json;q=0',
    'application/json;as=constructor',
  ]) {
    assert.throws(
      () => negotiate(header),
      error => error instanceof ApiError && error.status.code === 406,
      header,
    )
  }
})

test('discovery is aggregated only for clients that ask for it', () => {
  const aggregated = (version: string) =>
    `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  assert.equal(negotiateDiscovery(`${aggregated('v2')},${aggregated('v2beta1')},application/json`), 'v2')
  assert.equal(negotiateDiscovery(`${aggregated('v3')},${aggregated('v2beta1')}`), 'v2beta1')
  assert.equal(negotiateDiscovery('application/json, */*'), 'legacy')
})
