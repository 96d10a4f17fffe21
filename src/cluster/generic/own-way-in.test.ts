import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../../keys/private-key.ts'
import { selfSignedCa } from '../../keys/self-signed.ts'
import { authorityOf } from '../../sign/authority.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { issuePair } from '../issue-pair.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import { whyBlind, whyShutOut } from './own-way-in.ts'

const now = Date.parse('2026-06-01T00:00:00Z')
const random = seededRandom(3)

async function ca(commonName: string) {
  const signer = generateSigner('ECDSA-P256', random)
  const pem = await selfSignedCa({ commonName, signer, random, notBefore: now - 1000, notAfter: now + 1e9 })
  return { pem, ...authorityOf(pem, signer) }
}

test('the controller shuts nobody out by whom it is let in itself, and presents no chain that it would not verify', async () => {
  // Two CAs of one name, as kubeadm makes them: the key tells them apart.
  const [old, next] = await Promise.all([ca('kubernetes'), ca('kubernetes')])
  const identity = { commonName: 'rollcall', organizations: [], usage: 'client auth' } as const
  const { certificate } = await issuePair(old, { ...identity, lifetime: 1e6, now }, random)
  assert.equal(whyShutOut(certificate, old.pem + next.pem), undefined)
  assert.match(`${whyShutOut(certificate, next.pem)}`, /of a CA that goes; give it a kubeconfig with another/)
  assert.equal(whyShutOut(undefined, next.pem), undefined, 'a token is judged by none of them')

  const cas = {
    authority: (_: string, generation: number) => (generation === 2 ? next : old),
  } as unknown as CaStore
  assert.match(`${whyBlind(old.pem, cas, { authority: 2, mode: 'bare' })}`, /does not trust CA 2/)
  assert.equal(whyBlind(old.pem, cas, { authority: 2, mode: 'bridged' }), undefined)
  assert.equal(whyBlind(old.pem + next.pem, cas, { authority: 2, mode: 'bare' }), undefined)
})
