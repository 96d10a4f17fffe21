import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBundle } from '../trust/bundle-text.ts'
import { ceremonyTable } from '../trust/testing/ceremony-table.ts'
import { bundleWith } from './bundle-choice.ts'
import { signedGate, wayBackGate } from './gates/signed.ts'
import { planIn, quiet } from './testing/quiet-cluster.ts'

test('what one ceremony signs for four CAs lets three rollovers run unattended, each with its way back', async () => {
  const { bundles: signed, authorities } = await ceremonyTable(4)
  const generationOf = (der: Uint8Array) =>
    authorities.findIndex(({ certificate }) => Buffer.compare(certificate.raw, der) === 0) + 1
  const bundles = signed.map(({ generation, content }) => {
    return { generation, digest: '', anchors: (decodeBundle(content)?.anchors ?? []).map(generationOf) }
  })
  let published = 1
  for (const [from, to] of [
    [1, 2],
    [2, 3],
    [3, 4],
  ] as const) {
    const sinks = [{ id: 'sink', seed: true, generation: published, anchors: [] }]
    const seen = quiet({ bundles, sinks })
    const { bundle: _, serverBundle: __, ...plan } = planIn('Proving', { from, to })
    assert.deepEqual(signedGate(plan, seen).blockers, [])
    const wide = bundleWith('wide', plan, seen, undefined)
    assert(wide !== undefined)
    assert.deepEqual(wayBackGate({ ...plan, bundle: wide }, seen).blockers, [])
    const narrow = bundleWith('narrow', plan, seen, wide)
    assert(narrow !== undefined && narrow > wide)
    published = narrow
  }
  assert.equal(bundles.find(({ generation }) => generation === published)?.anchors.includes(4), true)
})
