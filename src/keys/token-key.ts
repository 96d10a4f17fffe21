/** What stands in a pair's file instead of a private key that never leaves its token: which key it is. */
import { RollcallError } from '../errors.ts'
import { decodePem, encodePem } from '../x509/pem.ts'
import { loadSigner } from './private-key.ts'
import { Secret } from './secret.ts'
import type { Signer } from './signer.ts'

export const tokenKeyLabel = 'PKCS11 KEY REFERENCE'

export interface TokenKey {
  /** CKA_LABEL. */
  label: string
  /** CKA_ID. */
  id: Uint8Array
  /** SubjectPublicKeyInfo in DER. */
  spki: Uint8Array
}

/** PEM. It is no secret, but stands where one would. */
export function encodeTokenKey({ label, id, spki }: TokenKey): Secret {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  const body = JSON.stringify({ label, id: hex(id), spki: hex(spki) })
  return new Secret(encodePem(tokenKeyLabel, Buffer.from(body)))
}

/** undefined: the text holds a key or anything else. Throws X509_MALFORMED when a reference cannot be read. */
export function readTokenKey(text: Secret): TokenKey | undefined {
  const block = decodePem(text.reveal()).find(({ label }) => label === tokenKeyLabel)
  if (!block) return undefined
  const { label, id, spki } = parse(new TextDecoder().decode(block.bytes))
  if (typeof label !== 'string' || typeof id !== 'string' || typeof spki !== 'string') throw malformed()
  return { label, id: fromHex(id), spki: fromHex(spki) }
}

/** Whether a PEM block is a private key, or stands for one. */
export function isStoredKey(label: string): boolean {
  return label.endsWith('PRIVATE KEY') || label === tokenKeyLabel
}

/** The public half of a stored key, in memory or in a token. Throws X509_MALFORMED or X509_UNSUPPORTED_KEY. */
export function publicHalf(stored: Secret): Pick<Signer, 'publicKey'> {
  const inToken = readTokenKey(stored)
  return inToken ? { publicKey: inToken.spki } : loadSigner(stored)
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Refused below: a reference that cannot be read is none.
  }
  throw malformed()
}

const fromHex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'))
const malformed = () =>
  new RollcallError('X509_MALFORMED', 'the reference to a key in a PKCS#11 token cannot be read')
