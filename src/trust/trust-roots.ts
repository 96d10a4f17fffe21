/** The keys that say which CAs are trusted: Ed25519, m of n, apart from every CA, and pinned by each consumer. */
import type { Signer } from '../keys/signer.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { parsePublicKey } from '../x509/public-key.ts'
import { checkSignature } from '../x509/signature.ts'

export interface TrustRoots {
  cluster: string
  /** Rises with each set of roots. */
  version: number
  /** How many of the keys must have signed. */
  threshold: number
  /** SubjectPublicKeyInfo of each, in DER. */
  keys: readonly Uint8Array[]
}

export interface RootSignature {
  /** SHA-256 of the key's SubjectPublicKeyInfo, hexadecimal. */
  keyId: string
  signature: Uint8Array
}

const title = 'rollcall.dev/trust-roots/v1'
const most = 16

/** What `--trust-roots` reads. Throws RangeError: a threshold out of range, a key twice or not Ed25519. */
export function encodeTrustRoots(roots: TrustRoots): string {
  const problem = whyUnfit(roots)
  if (problem !== undefined) throw new RangeError(problem)
  const keys = roots.keys.map(spki => Buffer.from(spki).toString('base64')).sort()
  const lines = [
    title,
    `cluster ${roots.cluster}`,
    `version ${roots.version}`,
    `threshold ${roots.threshold}`,
    ...keys.map(key => `key ${key}`),
  ]
  return lines.map(line => `${line}\n`).join('')
}

const form =
  /^rollcall\.dev\/trust-roots\/v1\ncluster ([A-Za-z0-9][A-Za-z0-9.-]{0,127})\nversion (\d{1,9})\nthreshold (\d{1,2})\n((?:key [A-Za-z0-9+/=]+\n){1,16})$/

/** The roots, or undefined when the text is not exactly what `encodeTrustRoots` writes. */
export function decodeTrustRoots(text: string): TrustRoots | undefined {
  const [, cluster = '', version, threshold, list = ''] = form.exec(text) ?? []
  const keys = list
    .split('\n')
    .slice(0, -1)
    .map(line => new Uint8Array(Buffer.from(line.slice('key '.length), 'base64')))
  const roots = { cluster, version: Number(version), threshold: Number(threshold), keys }
  return whyUnfit(roots) === undefined && encodeTrustRoots(roots) === text ? roots : undefined
}

/** The name of a root key in signatures. */
export function rootKeyId(spki: Uint8Array): string {
  return sha256Hex(spki)
}

/** One root's signature over a text. */
export async function signAsRoot(text: string, root: Signer): Promise<RootSignature> {
  return { keyId: rootKeyId(root.publicKey), signature: await root.sign(Buffer.from(text)) }
}

export type SignatureProblem = 'DuplicateSignature' | 'BadSignature' | 'BelowThreshold'

/**
 * What speaks against the signatures, or undefined when at least `threshold` of the pinned keys have signed. Signatures
 * of unknown keys count for nothing; one key twice, or one that does not verify, makes all of it suspect.
 */
export function whyNotSigned(
  text: string,
  signatures: readonly RootSignature[],
  roots: TrustRoots,
): SignatureProblem | undefined {
  if (new Set(signatures.map(({ keyId }) => keyId)).size !== signatures.length) return 'DuplicateSignature'
  const pinned = new Map(roots.keys.map(spki => [rootKeyId(spki), spki]))
  const tbs = Buffer.from(text)
  let valid = 0
  for (const { keyId, signature } of signatures) {
    const spki = pinned.get(keyId)
    if (spki === undefined) continue
    const check = checkSignature(
      { tbs, signatureAlgorithm: 'Ed25519', signature },
      { spki, keyType: 'Ed25519' },
    )
    if (!check.ok) return 'BadSignature'
    valid += 1
  }
  return valid >= roots.threshold ? undefined : 'BelowThreshold'
}

/**
 * Whether `next` may take the place of the pinned roots: the next version of the same cluster, signed by enough of the
 * pinned keys and by enough of its own.
 */
export function mayReplaceRoots(
  next: TrustRoots,
  signatures: readonly RootSignature[],
  held: TrustRoots,
): boolean {
  const text = encodeTrustRoots(next)
  const follows = next.cluster === held.cluster && next.version === held.version + 1
  return follows && [held, next].every(roots => whyNotSigned(text, signatures, roots) === undefined)
}

function whyUnfit({ version, threshold, keys }: TrustRoots): string | undefined {
  if (!Number.isSafeInteger(version) || version < 1) return `no version: ${version}`
  if (keys.length > most) return `more than ${most} trust roots`
  if (!Number.isInteger(threshold) || threshold < 1 || threshold > keys.length)
    return `${threshold} of ${keys.length} trust roots cannot be asked for`
  if (new Set(keys.map(rootKeyId)).size !== keys.length) return 'a trust root is named twice'
  return keys.every(isEd25519) ? undefined : 'a trust root is no Ed25519 key'
}

function isEd25519(spki: Uint8Array): boolean {
  try {
    return parsePublicKey(spki).type === 'Ed25519'
  } catch {
    return false // bytes that are no key are no Ed25519 key
  }
}
