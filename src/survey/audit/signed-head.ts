/** The head of a chain, signed by the controller that writes it and published where others keep it. */
import type { Signer } from '../../keys/signer.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { parsePublicKey } from '../../x509/public-key.ts'
import { checkSignature } from '../../x509/signature.ts'
import type { ChainPosition } from './audit-entry.ts'

export interface SignedHead extends ChainPosition {
  /** When it was signed, RFC 3339. */
  time: string
  /** SubjectPublicKeyInfo of the controller's key, base64. */
  key: string
  /** Base64. */
  signature: string
}

/** Annotations of the Lease: the newest head, and the last ones of the chains before it (a JSON list, newest first). */
export const headAnnotation = 'rollcall.dev/audit-head'
export const earlierHeadsAnnotation = 'rollcall.dev/audit-earlier-heads'
/** Reason of the Events about the Lease; their message is the head, JSON. */
export const headEvent = 'DecisionLogHead'
export const headLease = { namespace: 'kube-system', name: 'rollcall-audit' }

/** What is signed: nothing that is signed with this key for another purpose begins so. */
function toBeSigned({ chain, seq, hash, time }: Omit<SignedHead, 'key' | 'signature'>): Uint8Array {
  return Buffer.from(`rollcall decision log head\n${chain}\n${seq}\n${hash}\n${time}\n`)
}

/** `time` in RFC 3339. Rejects as the signer does. */
export async function signHead(position: ChainPosition, time: string, signer: Signer): Promise<SignedHead> {
  const { chain, seq, hash } = position
  const signature = await signer.sign(toBeSigned({ chain, seq, hash, time }))
  const key = Buffer.from(signer.publicKey).toString('base64')
  return { chain, seq, hash, time, key, signature: Buffer.from(signature).toString('base64') }
}

/** Whether the signature is by the key that the head names. */
export function headIsSigned(head: SignedHead): boolean {
  const spki = new Uint8Array(Buffer.from(head.key, 'base64'))
  const signature = new Uint8Array(Buffer.from(head.signature, 'base64'))
  try {
    const { type: keyType } = parsePublicKey(spki)
    const signatureAlgorithm = keyType === 'Ed25519' ? 'Ed25519' : 'ecdsa-with-SHA256'
    const signed = { tbs: toBeSigned(head), signatureAlgorithm, signature }
    return checkSignature(signed, { spki, keyType }).ok
  } catch {
    // A key that cannot be read signed nothing.
    return false
  }
}

/** SHA-256 of the head's key, hexadecimal: what an operator notes down to recognise the controller by. */
export const headKeyDigest = ({ key }: SignedHead) => sha256Hex(Buffer.from(key, 'base64'))

/** The heads in a Lease's annotations, the newest first. What is no head is left out. */
export function publishedHeads(annotations: Readonly<Record<string, string>> = {}): SignedHead[] {
  const newest = parsed(annotations[headAnnotation])
  const earlier = parsed(annotations[earlierHeadsAnnotation])
  return [newest, ...(Array.isArray(earlier) ? earlier : [])].filter(isHead)
}

/**
 * The heads that somebody else kept, a JSON object a line, in any order; and the numbers of the lines that are none. The
 * newest first.
 */
export function keptHeads(text: string): { heads: SignedHead[]; others: number[] } {
  const lines = text
    .split('\n')
    .map((line, index) => ({ number: index + 1, value: parsed(line.trim() || undefined) }))
  const heads = lines.flatMap(({ value }) => (isHead(value) ? [value] : []))
  const blank = text.split('\n').map(line => line.trim() === '')
  return {
    heads: heads.sort((a, b) => b.seq - a.seq),
    others: lines
      .filter(({ number, value }) => !isHead(value) && !blank[number - 1])
      .map(({ number }) => number),
  }
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    // Somebody wrote something else there: as good as none.
    return undefined
  }
}

function isHead(value: unknown): value is SignedHead {
  if (typeof value !== 'object' || value === null) return false
  const { chain, seq, hash, time, key, signature } = value as Partial<Record<keyof SignedHead, unknown>>
  const texts: [value: unknown, form: RegExp][] = [
    [chain, /^[0-9a-f]{16}$/],
    [hash, /^[0-9a-f]{64}$/],
    [time, /^.{1,64}$/],
    [key, /^[A-Za-z0-9+/=]{1,1024}$/],
    [signature, /^[A-Za-z0-9+/=]{1,1024}$/],
  ]
  return (
    Number.isSafeInteger(seq) && texts.every(([text, form]) => typeof text === 'string' && form.test(text))
  )
}
