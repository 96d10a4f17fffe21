import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeList } from '../../kube/types.ts'
import { smallApi, textOf } from '../testing/small-api.ts'

const nodes = '/api/v1/nodes'

describe('listing', () => {
  it('pages through one revision while others write', async () => {
    const api = smallApi()
    for (const name of ['a', 'b', 'c', 'd']) await api.call('POST', nodes, { metadata: { name } })
    const first = await api.call<KubeList>('GET', `${nodes}?limit=2`)
    assert.deepEqual([first.kind, first.metadata.remainingItemCount], ['NodeList', 2])
    await api.call('DELETE', `${nodes}/c`)
    await api.call('POST', nodes, { metadata: { name: 'bb' } })
    const token = first.metadata.continue
    const rest = await api.call<KubeList>('GET', `${nodes}?limit=2&continue=${token}`)
    assert.deepEqual(
      rest.items.map(item => item.metadata.name),
      ['c', 'd'],
    )
    assert.deepEqual(
      [rest.metadata.continue, rest.metadata.resourceVersion],
      [undefined, first.metadata.resourceVersion],
    )
  })

  it('answers 410 with a token to go on with when the revision is forgotten', async () => {
    const api = smallApi()
    for (const name of ['a', 'b', 'c']) await api.call('POST', nodes, { metadata: { name } })
    const first = await api.call<KubeList>('GET', `${nodes}?limit=1`)
    await api.call('POST', nodes, { metadata: { name: 'd' } })
    api.store.compact(api.store.revision)
    const response = await api.handle('GET', `${nodes}?limit=5&continue=${first.metadata.continue}`)
    const status = JSON.parse(textOf(response))
    assert.deepEqual([response.status, status.reason], [410, 'Expired'])
    const rest = await api.call<KubeList>('GET', `${nodes}?limit=5&continue=${status.metadata.continue}`)
    assert.deepEqual(
      rest.items.map(item => item.metadata.name),
      ['b', 'c', 'd'],
    )
  })

  it('selects by labels and fields', async () => {
    const api = smallApi()
    for (const [name, colour] of [
      ['a', 'red'],
      ['b', 'blue'],
      ['c', 'red'],
    ])
      await api.call('POST', nodes, { metadata: { name, labels: { colour } }, spec: { colour } })
    const names = async (query: string) =>
      (await api.call<KubeList>('GET', `${nodes}?${query}`)).items.map(item => item.metadata.name).join()
    assert.equal(await names('labelSelector=colour%3Dred'), 'a,c')
    assert.equal(await names('labelSelector=colour%3Dred&limit=1'), 'a')
    assert.equal(await names('fieldSelector=spec.colour!%3Dred'), 'b')
    assert.equal(await names('fieldSelector=metadata.name%3Dc'), 'c')
    assert.equal(await names('fieldSelector=metadata.name%3Dc,spec.colour%3Dblue'), '')
    await assert.rejects(names('fieldSelector=spec.size%3D1'), {
      message: '400 field label not supported: spec.size',
    })
  })

  it('shows an exact revision, and refuses one that is not there yet', async () => {
    const api = smallApi()
    const first = await api.call('POST', nodes, { metadata: { name: 'a' } })
    await api.call('POST', nodes, { metadata: { name: 'b' } })
    const version = first.metadata.resourceVersion
    const exact = `${nodes}?resourceVersion=${version}&resourceVersionMatch=Exact`
    assert.equal((await api.call<KubeList>('GET', exact)).items.length, 1)
    const atLeast = `${nodes}?resourceVersion=${version}`
    assert.equal((await api.call<KubeList>('GET', atLeast)).items.length, 2)
    await assert.rejects(api.call('GET', `${nodes}?resourceVersion=99`), {
      message: '504 Too large resource version: 99, current: 3',
    })
    await assert.rejects(api.call('GET', `${nodes}?resourceVersionMatch=Exact`), {
      message:
        '422 ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    })
  })

  it('gives Tables and metadata when asked to', async () => {
    const api = smallApi()
    await api.call('POST', nodes, { metadata: { name: 'a' }, spec: { colour: 'red' } })
    const table = await api.call<{ kind: string; rows: { cells: unknown[] }[] }>('GET', nodes, undefined, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    })
    assert.deepEqual([table.kind, table.rows[0]?.cells], ['Table', ['a']])
    const partial = await api.call<KubeList>('GET', nodes, undefined, {
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    })
    assert.deepEqual(
      [partial.kind, partial.items[0]?.kind, 'spec' in (partial.items[0] ?? {})],
      ['PartialObjectMetadataList', 'PartialObjectMetadata', false],
    )
  })
})
