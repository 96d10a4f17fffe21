import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { clientTemplate } from '../join/template.ts'
import { createTestAuthority } from '../testing/test-authority.ts'
import { parseKeyPair, serializeKeyPair } from './key-pair.ts'

const now = Date.parse('2026-05-01T10:20:30Z')
const day = 86_400_000

test('K-56: of a chain only the leaf’s times count; an intermediate that has ended changes nothing', async () => {
  const authority = await createTestAuthority(new SeededRandom('pair'))
  const template = clientTemplate('node-a', 'Ed25519')
  const leaf = await authority.issue(template, { notBefore: now, notAfter: now + day })
  const ended = await authority.issue(template, { notBefore: now - 2 * day, notAfter: now - day })
  const pair = parseKeyPair(serializeKeyPair(leaf.chain + ended.chain, leaf.key))
  assert.equal(pair.leaf.notAfter, now + day)
  assert.equal(pair.chain, leaf.chain + ended.chain)
})
