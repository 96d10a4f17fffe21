/**
 * That a sealing key is a node's own. A Lease can be written by more programs than the node's agent; only the agent can sign
 * with the key of the node's client certificate, so that a CA key is sealed to nobody else. Who has stolen the key of the CA
 * could make such a certificate, and would be sealed the next CA's key: against that helps a key of the node itself, which no
 * CA vouches for and the operator has pinned.
 */
import { signatureAlgorithmOf } from '../keys/signature-algorithm.ts'
import type { Signer } from '../keys/signer.ts'
import { type Certificate, parseCertificatesPem, verifyChain } from '../x509/certificate.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { commonNames, organizations } from '../x509/name.ts'
import { checkSignature } from '../x509/signature.ts'

export interface SealProof {
  /** PEM: the node's client certificate first. */
  chain: string
  /** Base64, by its key. */
  signature: string
  /** The node's own Ed25519 key (SubjectPublicKeyInfo) and its signature over the same, base64. */
  identity?: { key: string; signature: string }
}

export interface SealedNode {
  name: string
  uid: string
}

export interface SealingParty {
  /** PEM. */
  chain: string
  signer: Signer
  identity: Signer
}

export async function proveSeal(
  seal: string,
  node: SealedNode,
  { chain, signer, identity }: SealingParty,
): Promise<SealProof> {
  const tbs = signedText(seal, node)
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
  return {
    chain,
    signature: base64(await signer.sign(tbs)),
    identity: { key: base64(identity.publicKey), signature: base64(await identity.sign(tbs)) },
  }
}

/** Whether the node's own key that was pinned (SHA-256 of its SubjectPublicKeyInfo, hexadecimal) has signed it. */
export function isSealBy(seal: string, { identity }: SealProof, node: SealedNode, pinned: string): boolean {
  if (!identity) return false
  const spki = new Uint8Array(Buffer.from(identity.key, 'base64'))
  if (sha256Hex(spki) !== pinned) return false
  const signature = new Uint8Array(Buffer.from(identity.signature, 'base64'))
  const signed = { tbs: signedText(seal, node), signatureAlgorithm: 'Ed25519', signature }
  return checkSignature(signed, { spki, keyType: 'Ed25519' }).ok
}

/** Whether the key is this node's, by a certificate of these CAs. `now` in milliseconds since the epoch. */
export function isSealOf(
  seal: string,
  { chain, signature }: SealProof,
  node: SealedNode,
  authorities: readonly Certificate[],
  now: number,
): boolean {
  const certificates = parsed(chain)
  const [leaf] = certificates
  if (!leaf) return false
  const isNode =
    commonNames(leaf.subject).join() === `system:node:${node.name}` &&
    organizations(leaf.subject).includes('system:nodes')
  if (!isNode || !verifyChain(certificates, authorities, { now, usage: 'clientAuth' }).ok) return false
  const { spki, keyType } = leaf
  const signed = {
    tbs: signedText(seal, node),
    signatureAlgorithm: signatureAlgorithmOf(keyType),
    signature: new Uint8Array(Buffer.from(signature, 'base64')),
  }
  return checkSignature(signed, { spki, keyType }).ok
}

function signedText(seal: string, { name, uid }: SealedNode): Buffer {
  return Buffer.from(`rollcall.dev/seal/v1\nnode ${name}\nuid ${uid}\nkey ${seal}\n`)
}

function parsed(chain: string): Certificate[] {
  try {
    return parseCertificatesPem(chain)
  } catch {
    return [] // what is no certificate proves nothing
  }
}
