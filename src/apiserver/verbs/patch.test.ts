import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { smallApi } from '../testing/small-api.ts'

const nodes = '/api/v1/nodes'
const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
const merge = { 'content-type': 'application/merge-patch+json' }

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

  it('cannot take the name away or change it', async () => {
    const api = smallApi()
    await api.call('POST', nodes, { metadata: { name: 'n' } })
    const patch = (body: unknown, type: Record<string, string>) => api.call('PATCH', `${nodes}/n`, body, type)
    await assert.rejects(patch({ $patch: 'delete' }, strategic), {
      message: '400 the name of the object (n based on URL) was undeterminable: name must be provided',
    })
    await assert.rejects(patch({ metadata: { name: 'other' } }, merge), {
      message: '400 the name of the object (other) does not match the name on the URL (n)',
    })
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

  it('refuses a small patch that makes a huge object by copying its copies', async () => {
    const api = smallApi()
    await api.call('POST', nodes, { metadata: { name: 'n' }, spec: { a: { x: 'y' } } })
    const copies = Array.from({ length: 40 }, (_, n) => ({
      op: 'copy',
      from: '/spec/a',
      path: `/spec/a/k${n}`,
    }))
    const json = { 'content-type': 'application/json-patch+json' }
    await assert.rejects(api.call('PATCH', `${nodes}/n`, copies, json), {
      message: '413 Request entity too large: limit is 3145728',
    })
  })

  it('refuses server-side apply in words', async () => {
    const api = smallApi()
    const type = { 'content-type': 'application/apply-patch+yaml' }
    await assert.rejects(api.call('PATCH', `${nodes}/n`, {}, type), {
      message: /^415 server-side apply is not supported/,
    })
  })
})
