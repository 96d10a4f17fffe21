import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definitionOf } from '../../kube/rollcall/definition.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { customResourceDefinitions } from '../resources/customresourcedefinitions.ts'
import { smallApi } from '../testing/small-api.ts'
import { customResource } from './custom-resource.ts'
import { putDefinitions } from './put-definitions.ts'
import { timetable } from './testing/timetable.ts'

const url = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const name = 'timetables.rollcall.dev'
const random = seededRandom(1)

interface Definition {
  metadata: { name: string; resourceVersion: string; generation: number }
  spec: { names: Record<string, unknown> }
  status: { conditions: { type: string; status: string }[] }
}

test('the definitions of our kinds are there to be read, established; applied as they are they stay, others are refused', async () => {
  const { api, store, clock, call, handle } = smallApi({ resources: [customResourceDefinitions] })
  await putDefinitions([timetable], { store, clock, random })
  const definition = await call<Definition>('GET', `${url}/${name}`)
  const { spec } = JSON.parse(JSON.stringify(definitionOf(timetable)))
  assert.deepEqual(definition.spec, { ...spec, conversion: { strategy: 'None' } })
  assert.deepEqual(
    definition.status.conditions.map(({ type, status }) => [type, status]),
    [
      ['NamesAccepted', 'True'],
      ['Established', 'True'],
    ],
  )
  assert.equal((await handle('DELETE', `${url}/${name}`)).status, 405)
  assert.deepEqual(await call('PUT', `${url}/${name}`, definition), definition)
  const other = { ...definition, spec: { ...definition.spec, scope: 'Elsewhere' } }
  assert.equal((await handle('PUT', `${url}/${name}`, other)).status, 422)
  const foreign = { ...other, metadata: { name: 'foos.example.com' } }
  assert.equal((await handle('POST', url, foreign)).status, 422)
  await api.close()
})

test('a start changes no definition that is right, brings an older one up, and removes those of no kind', async () => {
  const { api, store, clock, call } = smallApi({ resources: [customResourceDefinitions] })
  const read = () => call<{ items: Definition[] }>('GET', url)
  await putDefinitions([timetable], { store, clock, random })
  const first = await read()
  await clock.advance(60_000)
  await putDefinitions([timetable], { store, clock, random })
  assert.deepEqual(await read(), first)
  await putDefinitions([{ ...timetable, shortNames: [] }], { store, clock, random })
  const [changed] = (await read()).items
  assert.equal(changed?.metadata.generation, 2)
  assert.equal(changed?.spec.names.shortNames, undefined)
  await putDefinitions([], { store, clock, random })
  assert.deepEqual((await read()).items, [])
  await api.close()
})

test('objects that are older than the schema get its new defaults', async () => {
  const { api, store, clock, call } = smallApi({ resources: [customResource(timetable)] })
  await putDefinitions([timetable], { store, clock, random })
  const collection = '/apis/rollcall.dev/v1alpha1/timetables'
  await call('POST', collection, { metadata: { name: 'x' }, spec: { from: 'a', cars: 1 } })
  const spec = {
    ...timetable.spec,
    properties: { ...timetable.spec.properties, class: { type: 'string', default: 'second' } as const },
  }
  await putDefinitions([{ ...timetable, spec }], { store, clock, random })
  const read = () => call<{ spec: unknown; metadata: { resourceVersion: string } }>('GET', `${collection}/x`)
  const filled = await read()
  assert.deepEqual(filled.spec, { from: 'a', to: 'anywhere', class: 'second', cars: 1 })
  await putDefinitions([{ ...timetable, spec }], { store, clock, random })
  assert.deepEqual(await read(), filled)
  await api.close()
})
