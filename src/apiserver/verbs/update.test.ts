import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { configMap, defaultNamespace, smallApi } from '../testing/small-api.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const nodes = '/api/v1/nodes'

describe('updating', () => {
  it('refuses an old resourceVersion and takes none', async () => {
    const api = await defaultNamespace()
    const first = await api.call('POST', maps, configMap('a'))
    await api.call('PUT', `${maps}/a`, { ...first, spec: { colour: 'red' } })
    await assert.rejects(api.call('PUT', `${maps}/a`, { ...first, spec: { colour: 'blue' } }), {
      message:
        '409 Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    })
    const last = await api.call('PUT', `${maps}/a`, configMap('a', { spec: { colour: 'green' } }))
    assert.deepEqual(
      [last.spec, last.metadata.generation, last.metadata.uid],
      [{ colour: 'green' }, 3, first.metadata.uid],
    )
  })

  it('writes nothing when nothing changes, whatever the order of fields', async () => {
    const api = await defaultNamespace()
    const first = await api.call('POST', maps, configMap('a', { spec: { x: 1, y: 2 } }))
    const again = await api.call('PUT', `${maps}/a`, { ...first, spec: { y: 2, x: 1 } })
    assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion)
    assert.equal(String(api.store.revision), first.metadata.resourceVersion)
  })

  it('creates where the resource allows it, and needs a resourceVersion where it must', async () => {
    const api = await defaultNamespace()
    const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/l'
    assert.equal((await api.handle('PUT', lease, { metadata: { name: 'l' } })).status, 201)
    await assert.rejects(api.call('PUT', lease, { metadata: { name: 'l' } }), {
      message:
        '422 Lease.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    })
    await assert.rejects(api.call('PUT', `${maps}/a`, configMap('a')), {
      message: '404 configmaps "a" not found',
    })
  })

  it('changes only the status through /status', async () => {
    const api = smallApi()
    await api.call('POST', nodes, { metadata: { name: 'n' }, spec: { colour: 'red' }, status: { x: 1 } })
    const body = { metadata: { name: 'n' }, spec: { colour: 'blue' }, status: { x: 2 } }
    const node = await api.call('PUT', `${nodes}/n/status`, body)
    assert.deepEqual([node.spec, node.status, node.metadata.generation], [{ colour: 'red' }, { x: 2 }, 1])
  })

  it('keeps what cannot change', async () => {
    const api = await defaultNamespace()
    const first = await api.call('POST', maps, configMap('a'))
    await assert.rejects(
      api.call('PUT', `${maps}/a`, {
        ...first,
        metadata: { ...first.metadata, creationTimestamp: '2020-01-01T00:00:00Z' },
      }),
      {
        message:
          '422 ConfigMap "a" is invalid: metadata.creationTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable',
      },
    )
  })
})
