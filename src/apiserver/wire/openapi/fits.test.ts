import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../kube/types.ts'
import { dropEmptyFields, fits, unknownFields, wrongType } from './check.ts'

const node = { kind: 'Node' }
const made = (more: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'a' },
  ...more,
})

/** What the three looks that a fitting object is spared would have found. */
function found(object: KubeObject): boolean {
  const copy = structuredClone(object)
  dropEmptyFields(node, copy)
  const dropped = JSON.stringify(copy) !== JSON.stringify(object)
  return dropped || wrongType(node, object) !== undefined || unknownFields(node, object).length > 0
}

const objects: [what: string, object: KubeObject, fitting: boolean][] = [
  ['with nothing to say of', made({ spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }), true],
  ['with a field that is null', made({ spec: { podCIDR: null } }), true],
  ['with an unknown field deep inside', made({ spec: { taints: [{ key: 'k', colour: 'red' }] } }), false],
  ['with a number for a text', made({ spec: { taints: [{ key: 1 }] } }), false],
  ['with a list for an object', made({ spec: [] }), false],
  ['with an empty list', made({ spec: { podCIDRs: [] } }), false],
  ['with an empty map', made({ metadata: { name: 'a', labels: {} } }), false],
  ['with a wrong value in a map', made({ metadata: { name: 'a', labels: { x: 1 } } }), false],
]
for (const [what, object, fitting] of objects)
  test(`an object ${what} ${fitting ? 'fits' : 'does not fit'}, as all looks together say`, () => {
    assert.equal(fits(node, object), fitting)
    assert.equal(found(object), !fitting)
  })
