import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openAccess, smallApi } from '../testing/small-api.ts'

const admin = { username: 'admin', groups: ['system:masters'] }
const node = { username: 'system:node:a', groups: ['system:nodes'] }

describe('the audit log', () => {
  it('has who really asked, in whose name, for what, and how it ended, but never content', async () => {
    const lines: string[] = []
    const api = smallApi({
      access: { ...openAccess, authenticate: () => ({ user: node, impersonatedBy: admin }) },
      audit: line => lines.push(line),
    })
    const secret = { metadata: { name: 'n' }, spec: { token: 'abcdef.0123456789abcdef' } }
    const headers = { authorization: 'Bearer hush', 'user-agent': 'kubectl' }
    const response = await api.handle('POST', '/api/v1/nodes?x=y', secret, headers)
    await api.handle('GET', '/api/v1/namespaces/x/configmaps/missing')
    assert.doesNotMatch(lines.join(''), /abcdef|hush/)
    const [made, missed] = lines.map(line => JSON.parse(line))
    assert.equal(response.headers['audit-id'], made.auditID)
    assert.deepEqual(
      { ...made, auditID: '' },
      {
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level: 'Metadata',
        auditID: '',
        stage: 'ResponseComplete',
        requestURI: '/api/v1/nodes?x=y',
        verb: 'create',
        user: admin,
        impersonatedUser: node,
        sourceIPs: ['127.0.0.1'],
        userAgent: 'kubectl',
        objectRef: { resource: 'nodes', apiVersion: 'v1' },
        responseStatus: { metadata: {}, code: 201 },
        requestReceivedTimestamp: '2026-03-01T12:00:00.000000Z',
        stageTimestamp: '2026-03-01T12:00:00.000000Z',
      },
    )
    assert.deepEqual(missed.objectRef, {
      resource: 'configmaps',
      namespace: 'x',
      name: 'missing',
      apiVersion: 'v1',
    })
    assert.deepEqual(missed.responseStatus, {
      metadata: {},
      status: 'Failure',
      message: 'configmaps "missing" not found',
      reason: 'NotFound',
      code: 404,
    })
  })

  it('has a watch when it is over', async () => {
    const lines: string[] = []
    const api = smallApi({ audit: line => lines.push(line) })
    const { body } = await api.handle('GET', '/api/v1/nodes?watch=1&timeoutSeconds=5')
    assert.ok(!(body instanceof Uint8Array))
    const stream = body[Symbol.asyncIterator]()
    const next = stream.next()
    assert.equal(lines.length, 0)
    await api.clock.advance(5000)
    assert.equal((await next).done, true)
    const [line] = lines.map(line => JSON.parse(line))
    assert.deepEqual(
      [lines.length, line.verb, line.stageTimestamp],
      [1, 'watch', '2026-03-01T12:00:05.000000Z'],
    )
  })
})
