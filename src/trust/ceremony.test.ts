import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { acceptBundle } from './accept-bundle.ts'
import { bundleObject, signedBundleOf } from './bundle-object.ts'
import { decodeBundle } from './bundle-text.ts'
import { plannedBundles, signBundles, withSignatures } from './ceremony.ts'
import { authority, ceremonyTable, day, tableNow } from './testing/ceremony-table.ts'

const table = await ceremonyTable(3)
const { roots, rootSigners, authorities } = table
const ders = authorities.map(({ certificate }) => certificate.raw)
const order = {
  cluster: 'table',
  role: 'client',
  lastGeneration: 4,
  notBefore: tableNow,
  notAfter: tableNow + day,
} as const

const anchorsOf = (text: string) =>
  decodeBundle(text)
    ?.anchors.map(der => ders.findIndex(known => Buffer.compare(known, der) === 0) + 1)
    .sort()

test('C-70: unlike Kubernetes’ own bundle, which is replaced without overlap, one ceremony covers each rollover there and back, and the next CA is trusted in advance throughout', () => {
  const planned = plannedBundles({ ...order, authorities: ders })
  const told = planned.map(({ purpose, generation, content }) => [generation, purpose, anchorsOf(content)])
  assert.deepEqual(told, [
    [5, 'Steady', [1, 2]],
    [6, 'Widened', [1, 2, 3]],
    [7, 'Narrowed', [2, 3]],
    [8, 'Restored', [1, 2, 3]],
    [9, 'Narrowed', [2, 3]],
    [10, 'Widened', [2, 3]],
    [11, 'Narrowed', [3]],
    [12, 'Restored', [2, 3]],
    [13, 'Narrowed', [3]],
  ])
})

test('two meetings with one root each make a bundle that two of three must sign', async () => {
  const planned = plannedBundles({ ...order, authorities: ders }).slice(0, 1)
  const [monday] = await signBundles(planned, rootSigners.slice(0, 1), roots)
  const [friday] = await signBundles(planned, rootSigners.slice(2, 3), roots)
  assert(monday && friday)
  const holding = { roots, role: 'client', now: tableNow } as const
  assert.equal(acceptBundle(monday, holding).ok, false)
  assert.equal(acceptBundle(withSignatures(withSignatures(monday, monday), friday), holding).ok, true)
  const [other] = await signBundles(
    plannedBundles({ ...order, authorities: ders }).slice(1),
    rootSigners,
    roots,
  )
  assert(other)
  assert.throws(
    () => withSignatures(monday, other),
    error => hasCode(error, 'TRUST_CEREMONY_INVALID'),
  )
})

test('a bundle goes through an object of the API and comes back the same', () => {
  const [first] = table.bundles
  assert(first)
  const object = bundleObject(first, first.purpose)
  assert.equal(object.metadata.name, 'client-1')
  const back = signedBundleOf(JSON.parse(JSON.stringify(object)))
  assert.equal(acceptBundle(back, { roots, role: 'client', now: tableNow }).ok, true)
})

test('the roots sign no CA of a name that is there already, no expired one, and not with a key that is no root', async () => {
  const invalid = (error: unknown) => hasCode(error, 'TRUST_CEREMONY_INVALID')
  const twin = await authority(77, 'rollcall-client-1')
  assert.throws(() => plannedBundles({ ...order, authorities: [...ders, twin.certificate.raw] }), invalid)
  assert.throws(
    () =>
      plannedBundles({
        ...order,
        notBefore: tableNow + 4000 * day,
        notAfter: tableNow + 4001 * day,
        authorities: ders,
      }),
    invalid,
  )
  assert.throws(() => plannedBundles({ ...order, authorities: [] }), invalid)
  await assert.rejects(
    signBundles(plannedBundles({ ...order, authorities: ders }), [twin.signer], roots),
    invalid,
  )
})
