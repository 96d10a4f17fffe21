import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WireReader } from '../../../kube/protobuf/wire.ts'
import { allResources } from '../../resources/index.ts'
import type { ServedDocument } from '../document.ts'
import { openApiV3 } from './openapi.ts'

const documents = openApiV3(allResources)

/** What the tests look at of the root, and of the documents that it names. */
interface Read {
  paths: Record<
    string,
    { serverRelativeURL: string; patch: Record<string, unknown> & { parameters: { name: string }[] } }
  >
  components: {
    schemas: Record<string, Record<string, unknown> & { properties: Record<string, Record<string, unknown>> }>
  }
}
const read = (document: ServedDocument | undefined): Read =>
  JSON.parse(Buffer.from(document?.body ?? []).toString())

test('the root names a document with its hash for each group and version', () => {
  const { paths } = read(documents('/openapi/v3'))
  for (const [name, { serverRelativeURL }] of Object.entries(paths)) {
    const [path = '', hash] = serverRelativeURL.split('?hash=')
    assert.equal(path, `/openapi/v3/${name}`)
    assert.equal(documents(path)?.hash, hash)
  }
  assert.ok('api/v1' in paths && 'apis/certificates.k8s.io/v1' in paths)
  assert.equal(documents('/openapi/v3/apis/apps/v1'), undefined)
})

test('PATCH of a resource says that fieldValidation and dryRun are supported', () => {
  const { paths } = read(documents('/openapi/v3/apis/certificates.k8s.io/v1'))
  const patch = paths['/apis/certificates.k8s.io/v1/certificatesigningrequests/{name}']?.patch
  assert.deepEqual(patch?.['x-kubernetes-group-version-kind'], {
    group: 'certificates.k8s.io',
    version: 'v1',
    kind: 'CertificateSigningRequest',
  })
  const names = patch?.parameters.map(({ name }) => name)
  assert.ok(names?.includes('fieldValidation') && names.includes('dryRun'))
})

test('the schema tells kubectl how lists merge', () => {
  const { schemas } = read(documents('/openapi/v3/api/v1')).components
  const { conditions, addresses } = schemas['io.k8s.api.core.v1.NodeStatus']?.properties ?? {}
  assert.equal(conditions?.['x-kubernetes-patch-merge-key'], 'type')
  assert.equal(addresses?.['x-kubernetes-patch-strategy'], 'merge')
  const { finalizers } = schemas['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']?.properties ?? {}
  assert.equal(finalizers?.['x-kubernetes-patch-strategy'], 'merge')
  assert.deepEqual(schemas['io.k8s.api.core.v1.Node']?.['x-kubernetes-group-version-kind'], [
    { group: '', version: 'v1', kind: 'Node' },
  ])
})

test('every reference of every document leads to a component, and operation ids are unique', () => {
  for (const name of Object.keys(read(documents('/openapi/v3')).paths)) {
    const document = documents(`/openapi/v3/${name}`)
    const { components } = read(document)
    const text = Buffer.from(document?.body ?? []).toString()
    for (const [, component = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      assert.ok(component in components.schemas, `${name}: ${component}`)
    }
    const ids = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length, name)
  }
})

/** Names of fields of a protobuf message, as the wire shows them. */
function fieldsOf(bytes: Uint8Array): [number, Uint8Array][] {
  const reader = new WireReader(bytes)
  const fields: [number, Uint8Array][] = []
  while (!reader.done) {
    const { field, wireType } = reader.tag()
    if (wireType === 'bytes') fields.push([field, reader.bytes()])
    else reader.skip(wireType)
  }
  return fields
}

const inside = (bytes: Uint8Array, ...path: number[]): Uint8Array[] =>
  path.reduce(
    (found, number) =>
      found.flatMap(one => fieldsOf(one).flatMap(([field, body]) => (field === number ? [body] : []))),
    [bytes],
  )

const texts = (bodies: readonly Uint8Array[]) => bodies.map(body => Buffer.from(body).toString())

test('OpenAPI v2 is protobuf with a definition for every kind, and every reference leads to one', () => {
  const body = documents('/openapi/v2')?.body ?? new Uint8Array()
  assert.deepEqual(texts(inside(body, 1)), ['2.0'])
  const names = texts(inside(body, 9, 1, 1))
  assert.ok(names.includes('io.k8s.api.certificates.v1.CertificateSigningRequest'))
  assert.equal(new Set(names).size, names.length)
  const references = texts(inside(body, 9, 1, 2, 25, 1, 2, 1)).map(one => one.replace('#/definitions/', ''))
  assert.deepEqual(
    references.filter(one => !names.includes(one)),
    [],
  )
  assert.ok(texts(inside(body, 9, 1, 2, 31, 1)).includes('x-kubernetes-group-version-kind'))
})
