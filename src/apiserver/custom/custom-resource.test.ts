import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../../kube/transport.ts'
import { silentLog } from '../../ports.ts'
import { startEmbeddedCluster } from '../../testing/embedded-cluster.ts'
import { allResources } from '../resources/index.ts'
import { textOf } from '../testing/small-api.ts'
import { customResource } from './custom-resource.ts'
import { timetable } from './testing/timetable.ts'

const collection = '/apis/rollcall.dev/v1alpha1/timetables'

/** What the tests look at of answers of every kind: the object, a Status, a Table, a document. */
interface Json {
  metadata: { generation: number; resourceVersion: string; labels?: unknown }
  spec: { days: unknown }
  status: unknown
  message: string
  details: { causes: { reason: string }[] }
  columnDefinitions: { name: string; type: string; priority: number; description: string }[]
  rows: { cells: unknown[] }[]
  resources: { name: string }[]
  components: {
    schemas: Record<string, { properties: { spec: unknown }; 'x-kubernetes-group-version-kind': unknown }>
  }
  paths: Record<string, { patch: { requestBody: { content: object } } }>
}
interface Answer {
  status: number
  warning: string | undefined
  json: Json
}
type Ask = (method: string, url: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

function withTimetables(body: (ask: Ask) => Promise<void>) {
  return async () => {
    const cluster = await startEmbeddedCluster(silentLog, {
      resources: [...allResources, customResource(timetable)],
    })
    const transport = await cluster.transportAs('admin', 'system:masters')
    const ask: Ask = async (method, url, sent, headers = {}) => {
      const request: ApiRequest = { method, url, headers }
      if (sent !== undefined) request.body = new TextEncoder().encode(JSON.stringify(sent))
      const response = await transport.request(request)
      const { warning } = response.headers
      return { status: response.status, warning, json: JSON.parse(textOf(response)) }
    }
    try {
      await body(ask)
    } finally {
      await cluster.close()
    }
  }
}

const object = (name: string, spec?: unknown, more: object = {}) => ({
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'Timetable',
  metadata: { name },
  ...(spec !== undefined && { spec }),
  ...more,
})

test(
  'a kind of ours is created with defaults, without unknown fields and without status',
  withTimetables(async ask => {
    const sent = object(
      'x',
      { from: 'a', stops: [{ name: 'b', colour: 1 }], extra: { kept: true }, speed: 3 },
      { status: { late: 1 }, more: 1 },
    )
    const { status, warning, json } = await ask('POST', collection, sent)
    assert.equal(status, 201)
    assert.match(warning ?? '', /unknown field \\"spec\.stops\[0\]\.colour\\"/)
    assert.match(warning ?? '', /unknown field \\"more\\"/)
    assert.deepEqual(json.spec, {
      from: 'a',
      to: 'anywhere',
      stops: [{ name: 'b', minutes: 2 }],
      extra: { kept: true },
    })
    assert.deepEqual(Object.keys(json).sort(), ['apiVersion', 'kind', 'metadata', 'spec'])
    assert.equal(Object.keys(json.metadata).includes('managedFields'), false)
    assert.equal(json.metadata.generation, 1)
    const strict = await ask('POST', `${collection}?fieldValidation=Strict`, {
      ...sent,
      metadata: { name: 'y' },
    })
    assert.equal(strict.status, 400)
    assert.match(
      strict.json.message,
      /^Timetable in version "v1alpha1" cannot be handled as a Timetable: strict decoding error: /,
    )
  }),
)

test(
  'what the schema or the complaints of the kind refuse is a 422 that names the field',
  withTimetables(async ask => {
    const refused = async (name: string, spec?: unknown) => {
      const { status, json } = await ask('POST', collection, object(name, spec))
      assert.equal(status, 422)
      return [json.message, json.details.causes.map(({ reason }) => reason)]
    }
    const head = (name: string) => `Timetable.rollcall.dev "${name}" is invalid`
    // The kind has CEL rules, which Kubernetes does not evaluate then, and says so.
    const notChecked =
      '<nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
    assert.deepEqual(await refused('none'), [
      `${head('none')}: [spec: Required value, ${notChecked}]`,
      ['FieldValueRequired', 'FieldValueInvalid'],
    ])
    assert.deepEqual(await refused('typed', { from: 1 }), [
      `${head('typed')}: [spec.from: Invalid value: "integer": spec.from in body must be of type string: "integer", ${notChecked}]`,
      ['FieldValueTypeInvalid', 'FieldValueInvalid'],
    ])
    assert.deepEqual(await refused('round', { from: 'a', to: 'a' }), [
      `${head('round')}: spec.to: Invalid value: "a": must lead elsewhere`,
      ['FieldValueInvalid'],
    ])
    const named = await ask('POST', collection, object('Bad_Name', { from: 'a' }))
    assert.match(
      named.json.message,
      /metadata\.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain/,
    )
    const metadata = await ask('POST', collection, {
      ...object('m', { from: 'a' }),
      metadata: { name: 'm', labels: 1 },
    })
    assert.equal(metadata.status, 400)
  }),
)

test(
  'spec and status are changed each by its own path, and only the spec counts the generation',
  withTimetables(async ask => {
    const { json: created } = await ask('POST', collection, object('x', { from: 'a' }))
    const url = `${collection}/x`
    const put = { ...created, spec: { from: 'b' }, status: { late: 5 } }
    const { json: changed } = await ask('PUT', url, put)
    assert.deepEqual(
      [changed.spec, changed.status, changed.metadata.generation],
      [{ from: 'b', to: 'anywhere' }, undefined, 2],
    )
    const labelled = {
      ...changed,
      metadata: { ...changed.metadata, labels: { a: 'b' } },
      spec: {},
      status: { late: 5 },
    }
    const { json: late } = await ask('PUT', `${url}/status`, labelled)
    assert.deepEqual(
      [late.spec, late.status, late.metadata.generation, late.metadata.labels],
      [changed.spec, { late: 5 }, 2, undefined],
    )
    const wrong = await ask(
      'PATCH',
      `${url}/status`,
      { status: { late: 'x' } },
      { 'content-type': 'application/merge-patch+json' },
    )
    assert.equal(wrong.status, 422)
    const { resourceVersion: _version, ...metadata } = late.metadata
    const unversioned = await ask('PUT', url, { ...late, metadata })
    assert.match(
      unversioned.json.message,
      /metadata\.resourceVersion: Invalid value: 0: must be specified for an update/,
    )
  }),
)

test(
  'a kind of ours takes merge and JSON patches; a strategic merge patch is 415, as for any custom resource',
  withTimetables(async ask => {
    await ask('POST', collection, object('x', { from: 'a', days: ['mon'] }))
    const patch = (type: string, body: unknown) =>
      ask('PATCH', `${collection}/x`, body, { 'content-type': `application/${type}-patch+json` })
    assert.deepEqual((await patch('merge', { spec: { days: ['tue'], to: null } })).json.spec, {
      from: 'a',
      to: 'anywhere',
      days: ['tue'],
    })
    assert.deepEqual(
      (await patch('json', [{ op: 'add', path: '/spec/days/-', value: 'wed' }])).json.spec.days,
      ['tue', 'wed'],
    )
    const { status, json } = await patch('strategic-merge', { spec: { days: [] } })
    assert.equal(status, 415)
    assert.equal(
      json.message,
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json',
    )
  }),
)

test(
  'its table has the name, then a column for each JSONPath: nothing where there is nothing',
  withTimetables(async ask => {
    await ask('POST', collection, object('bare', { from: 'a' }))
    await ask('POST', collection, object('full', { from: 'a', cars: 3, departs: '2026-03-01T11:00:00Z' }))
    const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } }
    await ask('PATCH', `${collection}/full/status`, ready, { 'content-type': 'application/merge-patch+json' })
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { json } = await ask('GET', collection, undefined, { accept })
    assert.deepEqual(
      json.columnDefinitions.map(({ name, type, priority, description }) => [
        name,
        type,
        priority,
        description.slice(0, 30),
      ]),
      [
        ['Name', 'string', 0, 'Name must be unique within a n'],
        ['From', 'string', 0, 'Where it leaves.'],
        ['Cars', 'integer', 0, 'Custom resource definition col'],
        ['Ready', 'string', 0, 'Whether it can leave.'],
        ['Departs', 'date', 1, 'When it leaves.'],
      ],
    )
    assert.deepEqual(
      json.rows.map(({ cells }) => cells),
      [
        ['bare', 'a', null, null, null],
        ['full', 'a', 3, 'True', '60m'],
      ],
    )
  }),
)

test(
  'discovery and OpenAPI tell of it as of any custom resource',
  withTimetables(async ask => {
    const { json: list } = await ask('GET', '/apis/rollcall.dev/v1alpha1')
    const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
    const { kind } = timetable.ref
    assert.deepEqual(
      list.resources.filter(({ name }) => name.startsWith('timetables')),
      [
        {
          name: 'timetables',
          singularName: 'timetable',
          namespaced: false,
          kind,
          verbs,
          shortNames: ['tt'],
          storageVersionHash: 'p6kgKzQqT1E=',
        },
        {
          name: 'timetables/status',
          singularName: '',
          namespaced: false,
          kind,
          verbs: ['get', 'patch', 'update'],
        },
      ],
    )
    const { json: document } = await ask('GET', '/openapi/v3/apis/rollcall.dev/v1alpha1')
    const schema = document.components.schemas['dev.rollcall.v1alpha1.Timetable']
    assert.deepEqual(schema?.['x-kubernetes-group-version-kind'], [
      { group: 'rollcall.dev', version: 'v1alpha1', kind },
    ])
    assert.deepEqual(schema?.properties.spec, JSON.parse(JSON.stringify(timetable.spec)))
    assert.ok('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' in document.components.schemas)
    const patch = document.paths['/apis/rollcall.dev/v1alpha1/timetables/{name}']?.patch
    assert.deepEqual(Object.keys(patch?.requestBody.content ?? {}), [
      'application/json-patch+json',
      'application/merge-patch+json',
    ])
  }),
)

test(
  'the complaints of a kind see what was stored, and may forbid a change',
  withTimetables(async ask => {
    await ask('POST', collection, object('x', { from: 'a', cars: 1 }))
    const patch = (spec: unknown) =>
      ask('PATCH', `${collection}/x`, { spec }, { 'content-type': 'application/merge-patch+json' })
    assert.equal((await patch({ class: 'first' })).status, 200)
    const { status, json } = await patch({ cars: 2 })
    assert.equal(status, 422)
    assert.deepEqual(json.details.causes, [
      { reason: 'FieldValueForbidden', message: 'Forbidden: the train is made up', field: 'spec.cars' },
    ])
  }),
)
