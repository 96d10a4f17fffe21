import { test } from 'node:test'
import { type Case, servingCases } from '../../testing/judged-cases.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { CertifiedIndex } from '../certified-addresses.ts'

const signedWith = (algorithm: string) => ({ asked: { signatureAlgorithm: algorithm as 'Ed25519' } })

const spki = new Uint8Array([1, 2, 3])
/** A certificate for this key, of this node. */
function keyOf(nodeName: string): CertifiedIndex {
  const certified = new CertifiedIndex()
  certified.reserve('uid', nodeName, [], sha256Hex(spki))
  return certified
}
const sameKey = (nodeName: string) => ({ asked: { spki }, certified: keyOf(nodeName) })
const yearAndDay = { minSeconds: 600, maxSeconds: 367 * 86_400 }
const within = (lifetime = yearAndDay) => ({
  policy: { evidence: 'NodeStatus', allowedRanges: [], lifetime } as const,
})

const cases: Case[] = [
  ["H4 the key of another node's certificate", sameKey('worker-2'), 'Deny', 'KeyReused'],
  [
    'H4 the key of a node that is gone: the machine was renamed',
    sameKey('worker-9'),
    'Approve',
    'SansProven',
  ],
  ['H5 the key of its own certificate', sameKey('worker-1'), 'Approve', 'SansProven'],
  [
    'H5 the same, where the policy wants a new one',
    { ...sameKey('worker-1'), policy: { evidence: 'NodeStatus', allowedRanges: [], ownKey: 'deny' } },
    'Deny',
    'KeyReused',
  ],
  [
    'H7 368 days where 367 are the most',
    { ...within(), spec: { expirationSeconds: 368 * 86_400 } },
    'Deny',
    'LifetimeOutOfRange',
  ],
  ['H7 367 days', { ...within(), spec: { expirationSeconds: 367 * 86_400 } }, 'Approve', 'SansProven'],
  ['H8 no lifetime asked for, and our signer keeps to the policy', within(), 'Approve', 'SansProven'],
  [
    'H8 no lifetime asked for, and another signer would say',
    { ...within(), signedElsewhere: true },
    'Deny',
    'LifetimeOutOfRange',
  ],
  ['H8 the same, where the policy bounds nothing', { signedElsewhere: true }, 'Approve', 'SansProven'],
  ...['P-256', 'P-384', 'P-521', 'Ed25519', 'RSA-2048', 'RSA-4096'].map(
    (keyType): Case => [`H1 a key ${keyType}`, { asked: { keyType } }, 'Approve', 'SansProven'],
  ),
  ...['P-224', 'RSA-1024', 'RSA-16384', 'secp256k1', 'DSA'].map(
    (keyType): Case => [`H2 a key ${keyType}`, { asked: { keyType } }, 'Deny', 'WeakKey'],
  ),
  ['H3 signed with SHA-1', signedWith('ecdsa-with-SHA1'), 'Deny', 'WeakKey'],
  ['H3 signed with MD5', signedWith('md5WithRSAEncryption'), 'Deny', 'WeakKey'],
]
for (const [title, run] of servingCases(cases)) test(title, run)
