import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import { applyJsonPatch } from './json-patch.ts'
import { applyMergePatch } from './merge-patch.ts'
import { applyStrategicMergePatch } from './strategic-merge.ts'

test('a JSON patch does all six operations of RFC 6902', () => {
  const document: JsonObject = { a: { b: [1, 2, 3] }, c: 'x', 'd/e~f': 0 }
  const cases: [unknown[], JsonValue][] = [
    [[{ op: 'add', path: '/g', value: null }], { ...document, g: null }],
    [[{ op: 'add', path: '/a/b/1', value: 9 }], { ...document, a: { b: [1, 9, 2, 3] } }],
    [[{ op: 'add', path: '/a/b/-', value: 9 }], { ...document, a: { b: [1, 2, 3, 9] } }],
    [[{ op: 'remove', path: '/a/b/0' }], { ...document, a: { b: [2, 3] } }],
    [[{ op: 'replace', path: '/d~1e~0f', value: 1 }], { ...document, 'd/e~f': 1 }],
    [[{ op: 'move', from: '/c', path: '/a/c' }], { a: { b: [1, 2, 3], c: 'x' }, 'd/e~f': 0 }],
    [[{ op: 'copy', from: '/a/b', path: '/b' }], { ...document, b: [1, 2, 3] }],
    [[{ op: 'test', path: '/a', value: { b: [1, 2, 3] } }], document],
    [[{ op: 'test', path: '/nothing', value: null }], document],
    [[{ op: 'replace', path: '', value: { z: 1 } }], { z: 1 }],
  ]
  for (const [patch, expected] of cases) assert.deepEqual(applyJsonPatch(document, patch), expected)
})

test('a JSON patch that does not fit the object is refused and nothing counts', () => {
  const patches = [
    [{ op: 'test', path: '/a', value: 2 }],
    [{ op: 'remove', path: '/b' }],
    [{ op: 'replace', path: '/b', value: 1 }],
    [{ op: 'add', path: '/b/c', value: 1 }],
    [{ op: 'add', path: '/l/5', value: 1 }],
    [{ op: 'remove', path: '/l/01' }],
    [{ op: 'move', from: '/l', path: '/l/0' }],
    [{ op: 'add', path: '/toString/x', value: 1 }],
  ]
  for (const patch of patches) {
    assert.throws(
      () => applyJsonPatch({ a: 1, l: [1] }, patch),
      error => hasCode(error, 'PATCH_NOT_APPLICABLE'),
      JSON.stringify(patch),
    )
  }
})

test('what is no JSON patch is refused as malformed', () => {
  const patches: unknown[] = [
    {},
    [1],
    [{ op: 'add', path: '/a' }],
    [{ op: 'jump', path: '/a' }],
    [{ op: 'move', path: '/a' }],
    [{ op: 'add', path: 'a', value: 1 }],
    [{ op: 'add', path: '/~2', value: 1 }],
    [{ op: 'add', path: '/__proto__/x', value: 1 }],
  ]
  for (const patch of patches) {
    assert.throws(
      () => applyJsonPatch({ a: 1 }, patch),
      error => hasCode(error, 'PATCH_MALFORMED'),
    )
  }
})

test('a merge patch follows the examples of RFC 7396', () => {
  const cases: [JsonObject, JsonValue, JsonValue][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ]
  for (const [document, patch, expected] of cases)
    assert.deepEqual(applyMergePatch(document, patch), expected)
})

const node = {
  metadata: { name: 'a', finalizers: ['x'] },
  status: {
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'Hostname', address: 'a' },
    ],
    conditions: [
      { type: 'MemoryPressure', status: 'False', reason: 'r' },
      { type: 'Ready', status: 'False', reason: 'KubeletNotReady' },
    ],
  },
}

test('the status patch of a kubelet merges conditions by type and replaces addresses (W-3)', () => {
  const patched = applyStrategicMergePatch(
    node,
    {
      status: {
        '$setElementOrder/conditions': [{ type: 'MemoryPressure' }, { type: 'Ready' }],
        conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
        addresses: [{ type: 'Hostname', address: 'b' }, { $patch: 'replace' }],
      },
    },
    'Node',
  )
  assert.deepEqual(patched.status, {
    addresses: [{ type: 'Hostname', address: 'b' }],
    conditions: [
      { type: 'MemoryPressure', status: 'False', reason: 'r' },
      { type: 'Ready', status: 'True', reason: 'KubeletReady' },
    ],
  })
  assert.deepEqual(applyStrategicMergePatch(node, {}, 'Node'), node)
})

test('an element is deleted from a merged list by its key, and a new one goes before those that the patch does not name', () => {
  const patched = applyStrategicMergePatch(
    node,
    {
      status: {
        conditions: [
          { $patch: 'delete', type: 'Ready' },
          { type: 'New', status: 'True', gone: null },
        ],
      },
    },
    'Node',
  )
  assert.deepEqual((patched.status as JsonObject).conditions, [
    { type: 'New', status: 'True' },
    { type: 'MemoryPressure', status: 'False', reason: 'r' },
  ])
})

test('the order of a merged list follows $setElementOrder; unnamed items keep their place', () => {
  const document = { secrets: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] }
  const patched = applyStrategicMergePatch(
    document,
    { '$setElementOrder/secrets': [{ name: 'd' }, { name: 'c' }], secrets: [{ name: 'd' }] },
    'ServiceAccount',
  )
  assert.deepEqual(patched.secrets, [{ name: 'd' }, { name: 'a' }, { name: 'b' }, { name: 'c' }])
})

test('primitive lists merge as sets, and lose what $deleteFromPrimitiveList names', () => {
  const patched = applyStrategicMergePatch(
    { metadata: { finalizers: ['a', 'b'] } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'], finalizers: ['b', 'c', 'c'] } },
    'Node',
  )
  assert.deepEqual(patched, { metadata: { finalizers: ['b', 'c'] } })
})

test('maps are replaced, emptied or cut down to the keys to retain', () => {
  const document = { spec: { a: 1, b: 2 } }
  const spec = (patch: JsonObject) => applyStrategicMergePatch(document, { spec: patch }, 'Any').spec
  assert.deepEqual(spec({ $patch: 'replace', c: 3 }), { c: 3 })
  assert.deepEqual(spec({ $patch: 'delete' }), {})
  assert.deepEqual(spec({ $retainKeys: ['a', 'c'], c: 3 }), { a: 1, c: 3 })
  assert.deepEqual(spec({ $patch: 'merge', c: 3 }), { a: 1, b: 2, c: 3 })
})

test('lists that Kubernetes does not merge are replaced: taints, rules, conditions of a CSR', () => {
  const csr = { status: { conditions: [{ type: 'Approved' }] } }
  const patch = { status: { conditions: [{ type: 'Failed' }] } }
  assert.deepEqual(applyStrategicMergePatch(csr, patch, 'CertificateSigningRequest'), patch)
})

test('wrong directives, missing merge keys and __proto__ are refused', () => {
  const patches: unknown[] = [
    [],
    { spec: { $patch: 'explode' } },
    { status: { conditions: [{ status: 'True' }] } },
    { spec: { $retainKeys: ['a'], b: 1 } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': 'a' } },
    { status: { '$setElementOrder/conditions': [{ type: 'A' }], conditions: [{ type: 'B' }] } },
    JSON.parse('{"metadata":{"__proto__":{"admin":true}}}'),
  ]
  for (const patch of patches) {
    assert.throws(
      () => applyStrategicMergePatch(node, patch, 'Node'),
      error => hasCode(error, 'PATCH_MALFORMED'),
      JSON.stringify(patch),
    )
  }
})

test('no patch changes its arguments or the prototype of all objects', () => {
  const json = fc.dictionary(
    fc.constantFrom('a', 'b', 'status', 'conditions', '__proto__', '$patch'),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(json, json, (document, patch) => {
      const before = JSON.stringify([document, patch])
      for (const apply of [applyMergePatch, applyStrategicMergePatch]) {
        try {
          apply(document as JsonObject, patch as JsonObject, 'Node')
        } catch (error) {
          assert.ok(hasCode(error, 'PATCH_MALFORMED'), String(error))
        }
      }
      assert.equal(JSON.stringify([document, patch]), before)
      assert.deepEqual(Object.keys(Object.prototype), [])
    }),
  )
})
