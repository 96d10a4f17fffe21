import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeList, ObjectMeta } from '../kube/types.ts'
import { defaultNamespace, type SmallApi, smallApi } from './testing/small-api.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const nodes = '/api/v1/nodes'
const merge = { 'content-type': 'application/merge-patch+json' }

interface Family {
  api: SmallApi
  create(url: string, name: string, owner?: Owner, more?: Partial<ObjectMeta>): Promise<Owner>
  /** Names that are left, those that are being deleted with a star. */
  left(): Promise<string>
}
interface Owner {
  apiVersion: string
  kind: string
  name: string
  uid: string
  blockOwnerDeletion?: boolean
}

async function family(): Promise<Family> {
  const api = await defaultNamespace()
  return {
    api,
    async create(url, name, owner, more = {}) {
      const metadata = { name, ...(owner && { ownerReferences: [owner] }), ...more }
      const { metadata: made } = await api.call('POST', url, { metadata })
      return { apiVersion: 'v1', kind: url === nodes ? 'Node' : 'ConfigMap', name, uid: made.uid ?? '' }
    },
    async left() {
      const lists = await Promise.all([nodes, maps].map(url => api.call<KubeList>('GET', url)))
      return lists
        .flatMap(({ items }) => items)
        .map(({ metadata }) => `${metadata.name}${metadata.deletionTimestamp ? '*' : ''}`)
        .join()
    },
  }
}

const blocking = (owner: Owner): Owner => ({ ...owner, blockOwnerDeletion: true })
/** Everything that follows from a write without further ado. */
const settled = () => new Promise(resolve => setImmediate(resolve))

test('Orphan lets the dependents go on without their owner', async () => {
  const { api, create, left } = await family()
  const owner = await create(nodes, 'owner')
  await create(maps, 'child', owner)
  await api.call('DELETE', `${nodes}/owner`, { propagationPolicy: 'Orphan' })
  await settled()
  assert.equal(await left(), 'child')
  const child = await api.call('GET', `${maps}/child`)
  assert.equal(child.metadata.ownerReferences, undefined)
})

test('Foreground deletes dependents first, and theirs, and waits for those that block', async () => {
  const { api, create, left } = await family()
  const owner = await create(nodes, 'owner')
  const child = await create(maps, 'child', blocking(owner))
  await create(maps, 'free', owner, { finalizers: ['x/y'] })
  await create(maps, 'grandchild', blocking(child), { finalizers: ['x/y'] })
  const marked = await api.call('DELETE', `${nodes}/owner?propagationPolicy=Foreground`)
  assert.deepEqual(marked.metadata.finalizers, ['foregroundDeletion'])
  await settled()
  assert.equal(await left(), 'owner*,child*,free*,grandchild*')
  await api.call('PATCH', `${maps}/grandchild`, { metadata: { finalizers: null } }, merge)
  await settled()
  assert.equal(await left(), 'free*')
  await api.call('PATCH', `${maps}/free`, { metadata: { finalizers: null } }, merge)
  assert.equal(await left(), '')
})

test('a dependent with another owner stays and forgets the one that goes', async () => {
  const { api, create, left } = await family()
  const [one, two] = [await create(nodes, 'one'), await create(nodes, 'two')]
  await create(maps, 'child', undefined, { ownerReferences: [blocking(one), two] })
  await api.call('DELETE', `${nodes}/one?propagationPolicy=Foreground`)
  await settled()
  assert.equal(await left(), 'two,child')
  const child = await api.call('GET', `${maps}/child`)
  assert.deepEqual(child.metadata.ownerReferences, [two])
})

test('Background is the default, also where it is asked for by its older name', async () => {
  for (const body of [undefined, { propagationPolicy: 'Background' }, { orphanDependents: false }]) {
    const { api, create, left } = await family()
    await create(maps, 'child', await create(nodes, 'owner', undefined, { finalizers: ['orphan'] }))
    await api.call('DELETE', `${nodes}/owner`, body)
    await settled()
    // A finalizer that is there already says what to do, unless the request does.
    assert.equal(await left(), body ? '' : 'child')
  }
})

test('policies that there are not, or two at once, are refused', async () => {
  const { api, create } = await family()
  await create(nodes, 'owner')
  await assert.rejects(api.call('DELETE', `${nodes}/owner?propagationPolicy=Sideways`), {
    message:
      '422 DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
  })
  await assert.rejects(
    api.call('DELETE', `${nodes}/owner`, { propagationPolicy: 'Orphan', orphanDependents: true }),
    {
      message:
        '422 DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    },
  )
})

test('what a crash left half done is finished at the next start', async () => {
  const { api, create } = await family()
  await create(maps, 'child', await create(nodes, 'owner'))
  await api.api.close()
  const owner = api.store.get('registry/core/nodes/owner')
  assert.ok(owner)
  await api.store.write({ key: owner.key, expect: owner.modRevision, value: null })
  await settled()
  const restarted = smallApi({ store: api.store })
  await settled()
  assert.deepEqual((await restarted.call<KubeList>('GET', maps)).items, [])
})

test('a namespace goes with its content, whatever the policy', async () => {
  for (const policy of ['Foreground', 'Orphan', 'Background']) {
    const { api } = await family()
    await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
    await api.call('POST', '/api/v1/namespaces/team/configmaps', { metadata: { name: 'a' } })
    await api.call('DELETE', `/api/v1/namespaces/team?propagationPolicy=${policy}`)
    await settled()
    await api.clock.advance(10_000)
    const { items } = await api.call<KubeList>('GET', '/api/v1/namespaces')
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['default'],
      policy,
    )
  }
})

test('what is deleted while a thousand objects are gone through at start takes its dependents along', async () => {
  const { api, create } = await family()
  const owner = await create(maps, 'owner')
  for (let index = 0; index < 1000; index++) await create(maps, `other-${index}`)
  await create(maps, 'zebra', owner)
  await api.api.close()
  const restarted = smallApi({ store: api.store })
  const isThere = () => api.store.get('registry/core/configmaps/default/zebra') !== undefined
  await restarted.call('DELETE', `${maps}/owner`)
  await settled()
  assert.equal(isThere(), true)
  for (let portion = 0; portion < 3; portion++) await restarted.clock.advance(0)
  await settled()
  assert.equal(isThere(), false)
  await restarted.api.close()
  assert.equal(restarted.clock.pending(), 0)
})
