import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { requestInfo } from './request-info.ts'

/** `verb group/version plural/subresource namespace name`, `-` for what is empty. */
function shown(method: string, url: string): string {
  const { verb, resource, path } = requestInfo(method, url)
  if (!resource) return `${verb} ${path}`
  const { group, version, plural, subresource, namespace, name } = resource
  return [
    verb,
    `${group || '-'}/${version}`,
    `${plural}/${subresource || '-'}`,
    namespace || '-',
    name || '-',
  ].join(' ')
}

describe('the URL grammar', () => {
  const cases: [method: string, url: string, expected: string][] = [
    ['GET', '/api/v1/nodes', 'list -/v1 nodes/- - -'],
    ['GET', '/api/v1/nodes?watch=1', 'watch -/v1 nodes/- - -'],
    ['GET', '/api/v1/nodes?watch=true&limit=5', 'watch -/v1 nodes/- - -'],
    ['GET', '/api/v1/nodes?watch=false', 'list -/v1 nodes/- - -'],
    ['GET', '/api/v1/nodes/a', 'get -/v1 nodes/- - a'],
    ['PATCH', '/api/v1/nodes/a/status', 'patch -/v1 nodes/status - a'],
    ['DELETE', '/api/v1/nodes', 'deletecollection -/v1 nodes/- - -'],
    ['GET', '/api/v1/namespaces', 'list -/v1 namespaces/- - -'],
    ['GET', '/api/v1/namespaces/x', 'get -/v1 namespaces/- x x'],
    ['PUT', '/api/v1/namespaces/x/finalize', 'update -/v1 namespaces/finalize x x'],
    ['POST', '/api/v1/namespaces/x/configmaps', 'create -/v1 configmaps/- x -'],
    ['GET', '/api/v1/namespaces/x/configmaps/a%20b', 'get -/v1 configmaps/- x a b'],
    [
      'PUT',
      '/apis/certificates.k8s.io/v1/certificatesigningrequests/a/approval',
      'update certificates.k8s.io/v1 certificatesigningrequests/approval - a',
    ],
    ['GET', '/apis/coordination.k8s.io/v1/leases', 'list coordination.k8s.io/v1 leases/- - -'],
    ['GET', '/api', 'get /api'],
    ['GET', '/api/v1', 'get /api/v1'],
    ['GET', '/apis/coordination.k8s.io/v1', 'get /apis/coordination.k8s.io/v1'],
    ['GET', '/apis/coordination.k8s.io', 'get /apis/coordination.k8s.io'],
    ['GET', '/healthz?verbose', 'get /healthz'],
    ['GET', '/', 'get /'],
    ['OPTIONS', '/api/v1/nodes', 'options -/v1 nodes/- - -'],
  ]
  for (const [method, url, expected] of cases) {
    it(`reads ${method} ${url}`, () => assert.equal(shown(method, url), expected))
  }

  it('refuses a path that is not valid percent-encoding', () => {
    assert.throws(() => requestInfo('GET', '/api/v1/nodes/%zz'), { message: /percent-encoding/ })
  })
})
