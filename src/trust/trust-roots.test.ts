import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../keys/private-key.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { ceremonyTable } from './testing/ceremony-table.ts'
import {
  decodeTrustRoots,
  encodeTrustRoots,
  mayReplaceRoots,
  signAsRoot,
  type TrustRoots,
} from './trust-roots.ts'

const { roots, rootSigners } = await ceremonyTable(1)
const random = seededRandom(9)

test('trust roots are read in the one form in which they are written', () => {
  const text = encodeTrustRoots(roots)
  const read = decodeTrustRoots(text)
  assert.equal(read && encodeTrustRoots(read), text)
  const [first = '', ...rest] = text.split('\n')
  for (const other of [
    `${first}\r\n${rest.join('\n')}`,
    `${text}\n`,
    text.replace('threshold 2', 'threshold 4'),
    '',
  ])
    assert.equal(decodeTrustRoots(other), undefined)
})

test('roots need a threshold between one and their number, Ed25519 keys, none twice', () => {
  const [key] = roots.keys
  assert(key)
  const ecdsa = generateSigner('ECDSA-P256', random).publicKey
  for (const change of [
    { threshold: 0 },
    { threshold: 4 },
    { keys: [key, key] },
    { keys: [key, ecdsa] },
    { keys: [] },
  ])
    assert.throws(() => encodeTrustRoots({ ...roots, ...change }), RangeError)
})

test('a lost root is replaced by enough of the old ones and of the new ones, one version at a time', async () => {
  const fresh = generateSigner('Ed25519', random)
  const keys = [...roots.keys.slice(1), fresh.publicKey]
  const next: TrustRoots = { ...roots, version: 2, keys }
  const signaturesOf = (value: TrustRoots, signers = rootSigners.slice(1)) =>
    Promise.all(signers.map(signer => signAsRoot(encodeTrustRoots(value), signer)))
  assert.equal(mayReplaceRoots(next, await signaturesOf(next), roots), true)
  assert.equal(mayReplaceRoots(next, await signaturesOf(next, [fresh]), roots), false)
  const skipped = { ...next, version: 3 }
  assert.equal(mayReplaceRoots(skipped, await signaturesOf(skipped), roots), false)
})
