import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { readJsonLines } from '../../kube/json-lines.ts'
import type { KubeList, WatchEvent } from '../../kube/types.ts'
import { type SmallApi, type Spec, smallApi } from '../testing/small-api.ts'

const nodes = '/api/v1/nodes'
const merge = { 'content-type': 'application/merge-patch+json' }

interface Step {
  act: 'create' | 'paint' | 'delete'
  name: string
  colour: string
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom('create', 'paint', 'delete'),
  name: fc.constantFrom('a', 'b', 'c'),
  colour: fc.constantFrom('red', 'blue'),
})

/** Steps that make no sense (a name that is taken or not there) are refused, which is fine here. */
async function take(api: SmallApi, { act, name, colour }: Step): Promise<void> {
  const spec = { colour }
  const labels = { colour }
  if (act === 'create') await api.handle('POST', nodes, { metadata: { name, labels }, spec })
  else if (act === 'delete') await api.handle('DELETE', `${nodes}/${name}`)
  else await api.handle('PATCH', `${nodes}/${name}`, { metadata: { labels }, spec }, merge)
}

const selectors = fc.constantFrom(
  '',
  'fieldSelector=spec.colour%3Dred',
  'labelSelector=colour%3Dblue',
  'fieldSelector=metadata.name%3Da',
  'fieldSelector=metadata.name%3Da,spec.colour%3Dred',
  'fieldSelector=metadata.name!%3Db',
)

const listed = async (api: SmallApi, selector: string) => {
  const list = await api.call<KubeList<Spec>>('GET', `${nodes}?${selector}`)
  return { version: list.metadata.resourceVersion, objects: new Map(list.items.map(byName)) }
}
const byName = ({ metadata, spec }: Spec) =>
  [metadata.name, `${metadata.resourceVersion} ${spec?.colour}`] as const

it('a list and a watch from its version give what a later list gives, whatever is selected', async () => {
  const steps = fc.array(step, { maxLength: 15 })
  const property = fc.asyncProperty(
    steps,
    steps,
    steps,
    selectors,
    async (before, missed, live, selector) => {
      const api = smallApi()
      for (const one of before) await take(api, one)
      const { version, objects } = await listed(api, selector)
      for (const one of missed) await take(api, one)
      const url = `${nodes}?watch=1&timeoutSeconds=1&resourceVersion=${version}&${selector}`
      const { body } = await api.handle('GET', url)
      for (const one of live) await take(api, one)
      await api.clock.advance(1000)
      assert.ok(!(body instanceof Uint8Array))
      let last = Number(version)
      for await (const line of readJsonLines(body)) {
        const { type, object } = line as WatchEvent<Spec>
        assert.ok(Number(object.metadata.resourceVersion) > last, 'revisions rise')
        last = Number(object.metadata.resourceVersion)
        const [name, value] = byName(object)
        assert.equal(type === 'ADDED', !objects.has(name), `${type} ${name}`)
        if (type === 'DELETED') objects.delete(name)
        else objects.set(name, value)
      }
      assert.deepEqual(objects, (await listed(api, selector)).objects)
    },
  )
  await fc.assert(property, { numRuns: 150 })
})
