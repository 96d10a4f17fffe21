/**
 * That a sealing key is a node's own. A Lease can be written by more programs than the node's agent; only the agent can sign
 * with the key of the node's client certificate, so that a CA key is sealed to nobody else.
 */
import { signatureAlgorithmOf } from '../keys/signature-algorithm.ts'
import type { Signer } from '../keys/signer.ts'
import { type Certificate, parseCertificatesPem, verifyChain } from '../x509/certificate.ts'
import { commonNames, organizations } from '../x509/name.ts'
import { checkSignature } from '../x509/signature.ts'

export interface SealProof {
  /** PEM: the node's client certificate first. */
  chain: string
  /** Base64, by its key. */
  signature: string
}

export interface SealedNode {
  name: string
  uid: string
}

export async function proveSeal(
  seal: string,
  node: SealedNode,
  chain: string,
  signer: Signer,
): Promise<SealProof> {
  const signature = await signer.sign(signedText(seal, node))
  return { chain, signature: Buffer.from(signature).toString('base64') }
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
