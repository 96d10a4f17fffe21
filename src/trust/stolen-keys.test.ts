import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { acceptBundle, type SignedBundle } from './accept-bundle.ts'
import { encodeBundle } from './bundle-text.ts'
import { authority, ceremonyTable, day, tableNow } from './testing/ceremony-table.ts'
import { type RootSignature, signAsRoot } from './trust-roots.ts'

const table = await ceremonyTable()
const thief = await authority(666, 'thief')
const ours = table.authorities.map(({ certificate }) => certificate.raw)
const known = new Set(ours.map(der => Buffer.from(der).toString('base64')))
const { roots, rootSigners, bundles, authorities } = table

/** Everything that is online: CA keys of all generations, one root that somebody left on a server, all signed bundles. */
const stolen = [...authorities.map(({ signer }) => signer), thief.signer, rootSigners[0]].flatMap(
  key => key ?? [],
)

const anySubset = fc.subarray([...ours, thief.certificate.raw], { minLength: 1 })
const anySigner = fc.constantFrom(...stolen)
const anyOldSignature = fc.constantFrom(...bundles.flatMap(({ signatures }) => signatures))
const anyBytes = fc.uint8Array({ minLength: 64, maxLength: 64 })

const forgery = fc.record({
  anchors: anySubset,
  generation: fc.integer({ min: 1, max: 30 }),
  signers: fc.array(anySigner, { maxLength: 3 }),
  replayed: fc.array(anyOldSignature, { maxLength: 3 }),
  // A stolen key's signature under the name of a pinned root.
  renamed: fc.array(fc.record({ name: anyOldSignature, by: anySigner }), { maxLength: 2 }),
  invented: fc.array(fc.record({ name: anyOldSignature, bytes: anyBytes }), { maxLength: 1 }),
})

async function forge(
  values: typeof forgery extends fc.Arbitrary<infer T> ? T : never,
): Promise<SignedBundle> {
  const { anchors, generation } = values
  const times = { notBefore: tableNow, notAfter: tableNow + 365 * day }
  const content = encodeBundle({ cluster: 'table', role: 'client', generation, anchors, ...times })
  const own = await Promise.all(values.signers.map(signer => signAsRoot(content, signer)))
  const renamed = values.renamed.map(async ({ name, by }): Promise<RootSignature> => {
    return { keyId: name.keyId, signature: await by.sign(Buffer.from(content)) }
  })
  const invented = values.invented.map(({ name, bytes }) => ({ keyId: name.keyId, signature: bytes }))
  return { content, signatures: [...own, ...values.replayed, ...(await Promise.all(renamed)), ...invented] }
}

test('all online keys stolen: no agent accepts a foreign anchor, whatever the thief signs or replays', async () => {
  await fc.assert(
    fc.asyncProperty(forgery, async values => {
      const taken = acceptBundle(await forge(values), { roots, role: 'client', now: tableNow + day })
      assert.equal(taken.ok, false)
    }),
    { numRuns: 200 },
  )
})

test('all online keys stolen: bytes changed in a signed bundle, or its parts recombined, are never taken', () => {
  const anyBundle = fc.constantFrom(...bundles)
  fc.assert(
    fc.property(anyBundle, anyBundle, fc.nat(), fc.string({ maxLength: 4 }), (one, other, at, text) => {
      const cut = at % one.content.length
      const content = one.content.slice(0, cut) + text + one.content.slice(cut + text.length)
      for (const signatures of [one.signatures, other.signatures]) {
        const taken = acceptBundle({ content, signatures }, { roots, role: 'client', now: tableNow + day })
        if (!taken.ok) continue
        assert.equal(content, one.content, 'only what the roots signed')
        for (const { raw } of taken.bundle.anchors) assert(known.has(Buffer.from(raw).toString('base64')))
      }
    }),
    { numRuns: 300 },
  )
})

test('all online keys stolen: replayed bundles move a consumer forwards only, and only among our own CAs', () => {
  const order = fc.array(fc.nat({ max: bundles.length - 1 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(order, picks => {
      let held: { generation: number; digest: string } | undefined
      for (const pick of picks) {
        const bundle = bundles[pick] as SignedBundle
        const taken = acceptBundle(bundle, {
          roots,
          role: 'client',
          now: tableNow + day,
          ...(held ? { held } : {}),
        })
        if (!taken.ok) continue
        assert(taken.bundle.generation >= (held?.generation ?? 0))
        held = taken.bundle
      }
    }),
  )
})
