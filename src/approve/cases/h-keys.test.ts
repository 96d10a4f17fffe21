import { test } from 'node:test'
import { type Case, servingCases } from '../../testing/judged-cases.ts'

const signedWith = (algorithm: string) => ({ asked: { signatureAlgorithm: algorithm as 'Ed25519' } })

const cases: Case[] = [
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
