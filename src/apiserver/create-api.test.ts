import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeList } from '../kube/types.ts'
import { configMap, type SmallApi, type Spec, smallApi, textOf } from './testing/small-api.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const nodes = '/api/v1/nodes'
const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
const merge = { 'content-type': 'application/merge-patch+json' }

async function withNamespace(api: SmallApi = smallApi()): Promise<SmallApi> {
  await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } })
  return api
}

describe('creating', () => {
  it('sets what belongs to the server and answers 201', async () => {
    const api = await withNamespace()
    const response = await api.handle('POST', maps, {
      ...configMap('a', { spec: { colour: 'red' } }),
      metadata: { name: 'a', uid: 'mine', generation: 7, creationTimestamp: null, labels: { x: 'y' } },
    })
    const made = JSON.parse(textOf(response)) as Spec
    assert.equal(response.status, 201)
    assert.match(
      made.metadata.uid ?? '',
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    assert.deepEqual(
      { ...made, metadata: { ...made.metadata, uid: '' } },
      {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: {
          resourceVersion: '3',
          name: 'a',
          labels: { x: 'y' },
          namespace: 'default',
          uid: '',
          creationTimestamp: '2026-03-01T12:00:00Z',
          generation: 1,
        },
        spec: { colour: 'red' },
      },
    )
    assert.deepEqual(await api.call('GET', `${maps}/a`), made)
  })

  it('makes a name from generateName', async () => {
    const api = smallApi()
    const base = 'x'.repeat(60)
    const node = await api.call('POST', nodes, { metadata: { generateName: base } })
    assert.match(node.metadata.name, /^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  })

  it('needs a namespace that is there', async () => {
    const api = smallApi()
    await assert.rejects(api.call('POST', maps, configMap('a')), {
      message: '404 namespaces "default" not found',
    })
  })

  const refusals: [what: string, body: unknown, message: string][] = [
    ['a taken name', configMap('taken'), '409 configmaps "taken" already exists'],
    [
      'an invalid object',
      configMap('a', { spec: { colour: 'plaid' } }),
      '422 ConfigMap "a" is invalid: spec.colour: Unsupported value: "plaid": supported values: "red"',
    ],
    [
      'no name',
      { metadata: {} },
      '422 ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ],
    [
      'another namespace',
      { metadata: { name: 'a', namespace: 'other' } },
      '400 the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'another version',
      { apiVersion: 'v2', metadata: { name: 'a' } },
      '400 the API version in the data (v2) does not match the expected API version (v1)',
    ],
    [
      'labels that are no text',
      { metadata: { name: 'a', labels: { a: 1 } } },
      '400 ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal into Go struct field ObjectMeta.metadata.labels of type map[string]string',
    ],
    [
      'a body that is no JSON',
      '{"metadata":',
      "400 the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: the body is not valid",
    ],
    [
      'a resourceVersion',
      { metadata: { name: 'a', resourceVersion: '1' } },
      '500 resourceVersion should not be set on objects to be created',
    ],
  ]
  for (const [what, body, message] of refusals) {
    it(`refuses ${what}`, async () => {
      const api = await withNamespace()
      await api.call('POST', maps, configMap('taken'))
      await assert.rejects(api.call('POST', maps, body), { message })
    })
  }

  it('writes nothing in a dry run, whose object has no version', async () => {
    const api = await withNamespace()
    const made = await api.call('POST', `${maps}?dryRun=All`, configMap('a'))
    assert.deepEqual([made.metadata.name, made.metadata.resourceVersion], ['a', undefined])
    await assert.rejects(api.call('GET', `${maps}/a`), { message: '404 configmaps "a" not found' })
  })

  it('warns of a field named twice, or refuses it when asked to be strict', async () => {
    const api = await withNamespace()
    const body = '{"metadata":{"name":"a"},"spec":{"colour":"red","colour":"blue"}}'
    const warned = await api.handle('POST', maps, body)
    assert.equal(warned.headers.warning, '299 - "duplicate field \\"spec.colour\\""')
    await assert.rejects(api.call('POST', `${maps}?fieldValidation=Strict`, body), {
      message:
        '400 ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "spec.colour"',
    })
  })

  it('reads YAML', async () => {
    const api = await withNamespace()
    const type = { 'content-type': 'application/yaml' }
    await api.call('POST', maps, 'metadata:\n  name: a\nspec:\n  colour: red\n', type)
    assert.deepEqual((await api.call('GET', `${maps}/a`)).spec, { colour: 'red' })
  })

  it('refuses a body above the limit', async () => {
    const api = smallApi({ limits: { bodyBytes: 10 } })
    await assert.rejects(api.call('POST', nodes, { metadata: { name: 'a' } }), {
      message: '413 Request entity too large: limit is 10',
    })
  })
})

describe('updating', () => {
  it('refuses an old resourceVersion and takes none', async () => {
    const api = await withNamespace()
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
    const api = await withNamespace()
    const first = await api.call('POST', maps, configMap('a', { spec: { x: 1, y: 2 } }))
    const again = await api.call('PUT', `${maps}/a`, { ...first, spec: { y: 2, x: 1 } })
    assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion)
    assert.equal(String(api.store.revision), first.metadata.resourceVersion)
  })

  it('creates where the resource allows it, and needs a resourceVersion where it must', async () => {
    const api = await withNamespace()
    const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/l'
    assert.equal((await api.handle('PUT', lease, { metadata: { name: 'l' } })).status, 201)
    await assert.rejects(api.call('PUT', lease, { metadata: { name: 'l' } }), {
      message:
        '422 Lease.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
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
    const api = await withNamespace()
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

describe('patching', () => {
  it('applies JSON, merge and strategic merge patches', async () => {
    const api = smallApi()
    await api.call('POST', nodes, { metadata: { name: 'n' }, spec: { a: 1, b: 2 } })
    await api.call('PATCH', `${nodes}/n`, { spec: { a: null } }, merge)
    await api.call('PATCH', `${nodes}/n`, { spec: { c: 3 } }, strategic)
    const json = { 'content-type': 'application/json-patch+json' }
    const node = await api.call('PATCH', `${nodes}/n`, [{ op: 'replace', path: '/spec/b', value: 4 }], json)
    assert.deepEqual(node.spec, { b: 4, c: 3 })
  })

  it('does not write for an empty patch (W-3)', async () => {
    const api = smallApi()
    const first = await api.call('POST', nodes, { metadata: { name: 'n' } })
    const again = await api.call('PATCH', `${nodes}/n/status`, {}, strategic)
    assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion)
  })

  it('loses no patch when many come at once', async () => {
    const api = smallApi()
    await api.call('POST', nodes, { metadata: { name: 'n' } })
    const names = Array.from({ length: 20 }, (_, n) => `k${n}`)
    await Promise.all(
      names.map(name => api.call('PATCH', `${nodes}/n`, { metadata: { labels: { [name]: 'x' } } }, merge)),
    )
    const node = await api.call('GET', `${nodes}/n`)
    assert.deepEqual(Object.keys(node.metadata.labels ?? {}).sort(), names.sort())
  })

  it('is a conflict with a resourceVersion that is not the current one', async () => {
    const api = smallApi()
    await api.call('POST', nodes, { metadata: { name: 'n' } })
    const patch = { metadata: { resourceVersion: '1', labels: { a: 'b' } } }
    await assert.rejects(api.call('PATCH', `${nodes}/n`, patch, merge), { message: /^409 Operation cannot/ })
  })

  it('refuses server-side apply in words', async () => {
    const api = smallApi()
    const type = { 'content-type': 'application/apply-patch+yaml' }
    await assert.rejects(api.call('PATCH', `${nodes}/n`, {}, type), {
      message: /^415 server-side apply is not supported/,
    })
  })
})

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
    const api = await withNamespace()
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
    await assert.rejects(api.call('DELETE', `${maps}/x?propagationPolicy=Orphan`), {
      message: '400 propagationPolicy: Orphan is not supported by this server, only Background',
    })
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
    const api = await withNamespace()
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
    await assert.rejects(api.call('DELETE', '/api/v1/namespaces/default'), {
      message: '403 namespaces "default" is forbidden: this namespace may not be deleted',
    })
  })
})

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

describe('paths', () => {
  const answers: [method: string, url: string, status: number, text: string][] = [
    ['GET', '/healthz', 200, 'ok'],
    ['GET', '/readyz/ping', 200, 'ok'],
    ['GET', '/readyz/nonsense', 404, '404 page not found\n'],
    ['GET', '/nonsense', 404, '404 page not found\n'],
    ['GET', '/apis/no.such/v1/things', 404, '404 page not found\n'],
    ['GET', '/api/v1/things', 404, 'the server could not find the requested resource'],
    ['GET', '/api/v1/nodes/n/nonsense', 404, 'the server could not find the requested resource'],
    ['POST', '/api/v1/nodes/n', 405, 'the server does not allow this method on the requested resource'],
    ['POST', '/api/v1/configmaps', 405, 'the server does not allow this method on the requested resource'],
    ['GET', '/api/v1/namespaces/x/nodes', 404, 'the server could not find the requested resource'],
  ]
  for (const [method, url, status, text] of answers) {
    it(`answers ${status} to ${method} ${url}`, async () => {
      const response = await smallApi().handle(method, url, method === 'POST' ? {} : undefined)
      const body = textOf(response)
      const shown = response.headers['content-type'] === 'application/json' ? JSON.parse(body).message : body
      assert.deepEqual([response.status, shown], [status, text])
    })
  }

  it('answers HEAD without a body and leaves no watch behind', async () => {
    const api = smallApi()
    const response = await api.handle('HEAD', `${nodes}?watch=1`)
    assert.deepEqual([response.status, textOf(response), api.clock.pending()], [200, '', 0])
  })

  it('lists the checks when asked to be verbose', async () => {
    const body = textOf(await smallApi().handle('GET', '/livez?verbose'))
    assert.match(body, /^\[\+\]ping ok\n[\s\S]*livez check passed\n$/)
  })

  it('answers reviews without storing them', async () => {
    const api = smallApi()
    const url = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
    const response = await api.handle('POST', url, { spec: {} })
    assert.equal(response.status, 201)
    assert.equal(JSON.parse(textOf(response)).status.reason, 'tester')
    assert.equal(api.store.revision, 1)
    await assert.rejects(api.call('GET', url), { message: /^405 / })
  })

  it('refuses everything with 503 after it was closed', async () => {
    const api = smallApi()
    await api.api.close()
    await assert.rejects(api.call('GET', nodes), { message: '503 the server is shutting down' })
    assert.equal(api.clock.pending(), 0)
  })
})
