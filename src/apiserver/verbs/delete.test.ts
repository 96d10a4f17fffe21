import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeList } from '../../kube/types.ts'
import { configMap, defaultNamespace, smallApi } from '../testing/small-api.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const nodes = '/api/v1/nodes'
const merge = { 'content-type': 'application/merge-patch+json' }

describe('deleting', () => {
  it('answers a Status with the uid', async () => {
    const api = smallApi()
    const node = await api.call('POST', nodes, { metadata: { name: 'n' } })
    const status = await api.call<Record<string, unknown>>('DELETE', `${nodes}/n`)
    assert.deepEqual(
      [status.status, status.details],
      ['Success', { name: 'n', kind: 'nodes', uid: node.metadata.uid }],
    )
    await assert.rejects(api.call('DELETE', `${nodes}/n`), { message: '404 nodes "n" not found' })
  })

  it('waits for finalizers and ends with the last one', async () => {
    const api = smallApi()
    await api.call('POST', nodes, { metadata: { name: 'n', finalizers: ['x/y'] } })
    const marked = await api.call('DELETE', `${nodes}/n`)
    assert.equal(marked.metadata.deletionTimestamp, '2026-03-01T12:00:00Z')
    const added = { metadata: { finalizers: ['x/y', 'x/z'] } }
    await assert.rejects(api.call('PATCH', `${nodes}/n`, added, merge), {
      message:
        '422 Node "n" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/z"}',
    })
    await api.call('PATCH', `${nodes}/n`, { metadata: { finalizers: null } }, merge)
    await assert.rejects(api.call('GET', `${nodes}/n`), { message: '404 nodes "n" not found' })
  })

  it('holds preconditions', async () => {
    const api = smallApi()
    await api.call('POST', nodes, { metadata: { name: 'n' } })
    await assert.rejects(api.call('DELETE', `${nodes}/n`, { preconditions: { uid: 'other' } }), {
      message: /^409 Operation cannot be fulfilled on Node "n": the UID in the precondition \(other\)/,
    })
  })

  it('takes with an owner what no other owner keeps', async () => {
    const api = await defaultNamespace()
    const uid = async (name: string) => (await api.call('POST', nodes, { metadata: { name } })).metadata.uid
    const [one, two] = [await uid('one'), await uid('two')]
    const owner = (name: string, id?: string) => ({ apiVersion: 'v1', kind: 'Node', name, uid: id })
    const owned = (name: string, ...ownerReferences: object[]) =>
      api.call('POST', maps, { metadata: { name, ownerReferences } })
    await owned('a', owner('one', one))
    await owned('b', owner('one', one), owner('two', two))
    await owned('c', owner('one', 'of an older node'), owner('two', two))
    const left = async () =>
      (await api.call<KubeList>('GET', maps)).items.map(item => item.metadata.name).join()
    await api.call('DELETE', `${nodes}/one`)
    assert.equal(await left(), 'b,c')
    await api.call('DELETE', `${nodes}/two`)
    assert.equal(await left(), '')
  })

  it('deletes of a collection what the selector matches', async () => {
    const api = smallApi()
    for (const name of ['a', 'b', 'c'])
      await api.call('POST', nodes, { metadata: { name, labels: { keep: String(name === 'b') } } })
    const gone = await api.call<KubeList>('DELETE', `${nodes}?labelSelector=keep!%3Dtrue`)
    assert.deepEqual(
      gone.items.map(item => item.metadata.name),
      ['a', 'c'],
    )
    assert.equal((await api.call<KubeList>('GET', nodes)).items.length, 1)
  })

  it('takes the content of a namespace with it, and spares the namespaces of the system', async () => {
    const api = await defaultNamespace()
    await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
    const content = '/api/v1/namespaces/team/configmaps'
    await api.call('POST', content, configMap('free'))
    await api.call('POST', content, { metadata: { name: 'held', finalizers: ['x/y'] } })
    const marked = await api.call('DELETE', '/api/v1/namespaces/team')
    assert.deepEqual(marked.status, { phase: 'Terminating' })
    await assert.rejects(api.call('POST', content, configMap('late')), {
      message:
        '403 configmaps "late" is forbidden: unable to create new content in namespace team because it is being terminated',
    })
    await api.clock.advance(0)
    assert.deepEqual(
      (await api.call<KubeList>('GET', content)).items.map(item => item.metadata.name),
      ['held'],
    )
    await api.call('PATCH', `${content}/held`, { metadata: { finalizers: null } }, merge)
    await api.clock.advance(10_000)
    await assert.rejects(api.call('GET', '/api/v1/namespaces/team'), {
      message: '404 namespaces "team" not found',
    })
    for (const name of ['default', 'kube-system', 'kube-public']) {
      if (name !== 'default') await api.call('POST', '/api/v1/namespaces', { metadata: { name } })
      await assert.rejects(api.call('DELETE', `/api/v1/namespaces/${name}`), {
        message: `403 namespaces "${name}" is forbidden: this namespace may not be deleted`,
      })
    }
  })
})
