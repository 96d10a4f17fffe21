/** Compact JWS (RFC 7515) with ES256: the form of service account tokens. */
import { RollcallError } from '../../../../errors.ts'
import type { Signer } from '../../../../keys/signer.ts'
import { isRecord } from '../../../../kube/json.ts'
import { DerReader, tags } from '../../../../x509/der.ts'
import { encodeSequence, encodeUnsigned } from '../../../../x509/der-write.ts'
import { checkSignature } from '../../../../x509/signature.ts'

const algorithm = 'ES256'
/** Bytes of r and of s. */
const half = 32

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const bytesOf = (text: string) => new TextEncoder().encode(text)

/** Throws RollcallError X509_UNSUPPORTED_KEY for a key that is not ECDSA P-256. */
export function requireEs256(signer: Signer): void {
  if (signer.algorithm === 'ecdsa-with-SHA256') return
  throw new RollcallError(
    'X509_UNSUPPORTED_KEY',
    `service account tokens are signed with ECDSA P-256, not ${signer.algorithm}; put such a key into sa.key`,
  )
}

/** The token over `payload`, signed now. */
export async function signJws(payload: unknown, keyId: string, signer: Signer): Promise<string> {
  const input = `${base64url({ alg: algorithm, kid: keyId })}.${base64url(payload)}`
  const signature = rawSignature(await signer.sign(bytesOf(input)))
  return `${input}.${Buffer.from(signature).toString('base64url')}`
}

/** A token taken apart, nothing verified. */
export interface ParsedJws {
  algorithm: unknown
  keyId: unknown
  payload: Readonly<Record<string, unknown>>
  signingInput: string
  signature: Uint8Array
}

/** Only as an encoder writes it: the unused bits of the last character would give one token several forms. */
const isBase64url = (text: string) =>
  text !== '' && Buffer.from(text, 'base64url').toString('base64url') === text

/** undefined for what is no compact JWS whose header and payload are JSON objects. */
export function parseJws(token: string): ParsedJws | undefined {
  const parts = token.split('.')
  const [head = '', body = '', signature = ''] = parts
  if (parts.length !== 3 || !parts.every(isBase64url)) return undefined
  const header = jsonObject(head)
  const payload = jsonObject(body)
  if (!header || !payload) return undefined
  return {
    algorithm: header.alg,
    keyId: header.kid,
    payload,
    signingInput: `${head}.${body}`,
    signature: new Uint8Array(Buffer.from(signature, 'base64url')),
  }
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return isRecord(value) ? value : undefined
  } catch {
    // What is no JSON is no token of ours.
    return undefined
  }
}

/** Whether the holder of `spki` (a P-256 key) signed it. The header's algorithm decides nothing but a refusal. */
export function jwsIsSignedBy(jws: ParsedJws, spki: Uint8Array): boolean {
  if (jws.algorithm !== algorithm || jws.signature.length !== 2 * half) return false
  const signed = {
    tbs: bytesOf(jws.signingInput),
    signatureAlgorithm: 'ecdsa-with-SHA256',
    signature: encodeSequence(
      encodeUnsigned(jws.signature.subarray(0, half)),
      encodeUnsigned(jws.signature.subarray(half)),
    ),
  }
  return checkSignature(signed, { spki, keyType: 'P-256' }).ok
}

/** X.509's SEQUENCE of r and s as JWS has them: 32 bytes each. */
function rawSignature(der: Uint8Array): Uint8Array {
  const inside = new DerReader(der, 'signature').enter(tags.sequence)
  const raw = new Uint8Array(2 * half)
  for (const end of [half, 2 * half]) {
    const integer = inside.integer()
    const bytes = integer[0] === 0 ? integer.subarray(1) : integer
    raw.set(bytes, end - bytes.length)
  }
  return raw
}
