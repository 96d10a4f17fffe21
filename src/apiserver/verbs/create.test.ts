import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { configMap, defaultNamespace, type Spec, smallApi, textOf } from '../testing/small-api.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const nodes = '/api/v1/nodes'

describe('creating', () => {
  it('sets what belongs to the server and answers 201', async () => {
    const api = await defaultNamespace()
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
      const api = await defaultNamespace()
      await api.call('POST', maps, configMap('taken'))
      await assert.rejects(api.call('POST', maps, body), { message })
    })
  }

  it('writes nothing in a dry run, whose object has no version', async () => {
    const api = await defaultNamespace()
    const made = await api.call('POST', `${maps}?dryRun=All`, configMap('a'))
    assert.deepEqual([made.metadata.name, made.metadata.resourceVersion], ['a', undefined])
    await assert.rejects(api.call('GET', `${maps}/a`), { message: '404 configmaps "a" not found' })
  })

  it('warns of a field named twice, or refuses it when asked to be strict', async () => {
    const api = await defaultNamespace()
    const body = '{"metadata":{"name":"a"},"spec":{"colour":"red","colour":"blue"}}'
    const warned = await api.handle('POST', maps, body)
    assert.equal(warned.headers.warning, '299 - "duplicate field \\"spec.colour\\""')
    await assert.rejects(api.call('POST', `${maps}?fieldValidation=Strict`, body), {
      message:
        '400 ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "spec.colour"',
    })
  })

  it('reads YAML', async () => {
    const api = await defaultNamespace()
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
