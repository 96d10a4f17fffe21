import assert from 'node:assert/strict'
import { it } from 'node:test'
import { flowOf } from './flow.ts'

const user = (username: string, ...groups: string[]) => ({ username, groups })

it('tells the control plane, nodes, bootstrap tokens and others apart', () => {
  const levelOf = (...of: Parameters<typeof user>) => flowOf({ user: user(...of) }).level
  assert.equal(levelOf('admin', 'system:masters'), 'control-plane')
  assert.equal(levelOf('system:kube-controller-manager'), 'control-plane')
  assert.equal(levelOf('system:node:a', 'system:nodes'), 'node')
  assert.equal(levelOf('system:bootstrap:abcdef', 'system:bootstrappers'), 'bootstrap')
  assert.equal(levelOf('system:node:a'), 'other')
  assert.equal(levelOf('system:anonymous', 'system:unauthenticated'), 'other')
})

it('counts an impersonated request for who really makes it', () => {
  const impersonatedBy = user('helper')
  assert.deepEqual(flowOf({ user: user('system:node:a', 'system:nodes'), impersonatedBy }), {
    level: 'other',
    name: 'helper',
  })
})
