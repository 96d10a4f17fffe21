import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CARotationObject } from '../../../kube/rollcall/ca-rotation.ts'
import type { Attributes } from '../access.ts'
import { guardRotationWrites } from './ca-rotations.ts'

const anna = { username: 'anna', groups: [] }
const berta = { username: 'berta', groups: [] }
const said = (by: string) => ({ by, reason: 'looked', at: '2026-06-01T00:00:00Z' })

function rotation(spec: Partial<CARotationObject['spec']> = {}): CARotationObject {
  return {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'CARotation',
    metadata: { name: 'r' },
    spec: { role: 'client', reason: 'Scheduled', from: 1, to: 2, author: 'anna', ...spec },
  }
}

const mayAll = () => ({ allowed: true, reason: '' })
const nobody = () => ({ allowed: false, reason: '' })

function write(
  user: typeof anna,
  object: CARotationObject | undefined,
  oldObject?: CARotationObject,
  authorize: (attributes: Attributes) => { allowed: boolean; reason: string } = mayAll,
): void {
  const operation = object ? (oldObject ? 'UPDATE' : 'CREATE') : 'DELETE'
  const about = { group: 'rollcall.dev', version: 'v1alpha1', resource: 'carotations', subresource: '' }
  guardRotationWrites(
    {
      ...about,
      operation,
      namespace: '',
      name: 'r',
      user,
      ...(object && { object }),
      ...(oldObject && { oldObject }),
    },
    authorize,
  )
}

test('a rotation is begun, changed and deleted by who may sign for every signer of its CA, and bears his name', () => {
  write(anna, rotation())
  assert.throws(() => write(anna, rotation(), undefined, nobody), /needs verb sign/)
  assert.throws(() => write(anna, undefined, rotation(), nobody), /needs verb sign/)
  const onlyKubelets = ({ name }: Attributes) => ({
    allowed: name?.endsWith('-kubelet') === true,
    reason: '',
  })
  assert.throws(() => write(anna, rotation(), undefined, onlyKubelets), /needs verb sign/)
  assert.throws(() => write(berta, rotation()), /spec.author is the user/)
  assert.throws(() => write(anna, rotation({ to: 3 }), rotation()), /do not change/)
})

test('nobody speaks in the name of another, and the author does not vouch for his own plan', () => {
  const vouched = { acknowledgements: [{ consumer: 'user/x', ...said('berta') }] }
  write(berta, rotation(vouched), rotation())
  write(anna, rotation({ ...vouched, pause: true }), rotation(vouched))
  assert.throws(() => write(anna, rotation(vouched), rotation()), /bear the name/)
  assert.throws(() => write(anna, rotation({ approvals: [said('anna')] }), rotation()), /neither approves/)
  assert.throws(() => write(anna, rotation({ confirmation: said('berta') }), rotation()), /bear the name/)
  write(anna, rotation({ exclusions: [{ consumer: 'user/x', ...said('anna') }] }), rotation())
})
