import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptBundle, type BundleRefusal, type SignedBundle } from './accept-bundle.ts'
import { encodeBundle } from './bundle-text.ts'
import { authority, ceremonyTable, day, tableNow } from './testing/ceremony-table.ts'
import { rootKeyId, signAsRoot } from './trust-roots.ts'

const table = await ceremonyTable()
const { roots, rootSigners, authorities } = table
const [steady, widened, narrowed] = table.bundles
assert(steady && widened && narrowed)
const holding = { roots, role: 'client', now: tableNow + day } as const

const reasonOf = (signed: SignedBundle, more = {}): BundleRefusal | 'taken' => {
  const acceptance = acceptBundle(signed, { ...holding, ...more })
  return acceptance.ok ? 'taken' : acceptance.reason
}

const signed = async (content: string, signers = rootSigners.slice(0, 2)): Promise<SignedBundle> => ({
  content,
  signatures: await Promise.all(signers.map(root => signAsRoot(content, root))),
})

const content = {
  cluster: 'table',
  role: 'client',
  generation: 9,
  notBefore: tableNow,
  notAfter: tableNow + 10 * day,
  anchors: authorities.map(({ certificate }) => certificate.raw),
} as const

test('a bundle signed by enough pinned roots is taken, whichever of them signed', async () => {
  const text = encodeBundle(content)
  for (const pair of [
    [0, 1],
    [0, 2],
    [2, 1],
    [0, 1, 2],
  ])
    assert.equal(
      reasonOf(
        await signed(
          text,
          pair.flatMap(index => rootSigners[index] ?? []),
        ),
      ),
      'taken',
    )
})

test('too few, foreign, doubled and broken signatures are refused', async () => {
  const text = encodeBundle(content)
  const [one, two] = (await signed(text)).signatures
  const { signer } = await authority(99)
  assert(one && two)
  const forged = { keyId: two.keyId, signature: await signer.sign(Buffer.from(text)) }
  assert.equal(reasonOf({ content: text, signatures: [] }), 'BelowThreshold')
  assert.equal(reasonOf({ content: text, signatures: [one] }), 'BelowThreshold')
  assert.equal(
    reasonOf({ content: text, signatures: [one, await signAsRoot(text, signer)] }),
    'BelowThreshold',
  )
  assert.equal(reasonOf({ content: text, signatures: [one, one] }), 'DuplicateSignature')
  assert.equal(reasonOf({ content: text, signatures: [one, forged] }), 'BadSignature')
})

test('an older generation is refused for ever, another bundle of the same generation too', async () => {
  const taken = acceptBundle(narrowed, holding)
  assert(taken.ok)
  const { generation, digest } = taken.bundle
  const held = { generation, digest }
  assert.equal(reasonOf(widened, { held }), 'Rollback')
  assert.equal(reasonOf(steady, { held }), 'Rollback')
  assert.equal(reasonOf(narrowed, { held }), 'taken')
  assert.equal(reasonOf(await signed(encodeBundle({ ...content, generation })), { held }), 'Conflict')
})

test('a consumer that slept through all rollovers takes the newest bundle at once', () => {
  const newest = table.bundles.at(-1)
  const taken = acceptBundle(steady, holding)
  assert(taken.ok && newest)
  assert.equal(reasonOf(newest, { held: taken.bundle }), 'taken')
})

test('a bundle of another cluster, role or time is refused', async () => {
  assert.equal(reasonOf(await signed(encodeBundle({ ...content, cluster: 'other' }))), 'OtherCluster')
  assert.equal(reasonOf(steady, { role: 'kubelet-serving' }), 'OtherRole')
  assert.equal(reasonOf(steady, { now: tableNow + 731 * day }), 'Expired')
  assert.equal(reasonOf(steady, { now: tableNow - 1 }), 'NotYetValid')
})

test('anchors that some TLS stack would stumble over are refused although the roots signed them', async () => {
  const twin = await authority(50, 'rollcall-client-1')
  const anchors = [...content.anchors, twin.certificate.raw]
  assert.equal(reasonOf(await signed(encodeBundle({ ...content, anchors }))), 'UnfitAnchor')
  const notDer = [new Uint8Array([1, 2, 3])]
  assert.equal(reasonOf(await signed(encodeBundle({ ...content, anchors: notDer }))), 'UnfitAnchor')
})

test('text in any other form than the one written is malformed even when the roots signed it', async () => {
  const text = encodeBundle(content)
  const forms = [
    text.trimEnd(),
    `${text}\n`,
    text.replace('generation 9', 'generation 09'),
    text.replace('\n', '\r\n'),
  ]
  for (const form of [...forms, `${text}note x\n`, ''])
    assert.equal(reasonOf(await signed(form)), 'Malformed', JSON.stringify(form.slice(-40)))
})

test('a refusal says the rule and the figures', () => {
  const acceptance = acceptBundle({ ...steady, signatures: [] }, holding)
  assert(!acceptance.ok)
  assert.match(acceptance.message, /2 of 3 pinned trust roots must have signed/)
  assert.match(rootKeyId(roots.keys[0] ?? new Uint8Array()), /^[0-9a-f]{64}$/)
})
