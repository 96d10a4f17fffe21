/** Whether a machine has proven what it was asked. Pure; no TPM is needed. */
import { timingSafeEqual } from 'node:crypto'
import {
  type BeginRequest,
  type FinishRequest,
  type MachineKey,
  qualifyingData,
  signedText,
} from '../../keys/attestation/messages.ts'
import { signatureAlgorithmOf } from '../../keys/signature-algorithm.ts'
import { verifyAttestation } from '../../keys/tpm/attest.ts'
import { isAttestationKey, isEndorsementKey, nameOfKey, parsePublicArea } from '../../keys/tpm/public-area.ts'
import type { AskedChallenge, IdentityKey } from '../../kube/rollcall/node-identity.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { parsePublicKey } from '../../x509/public-key.ts'
import { checkSignature } from '../../x509/signature.ts'

/** By which key the machine says it is known. Throws TPM_MALFORMED or X509_MALFORMED for what is no such key. */
export function identityKeyOf(machine: MachineKey): IdentityKey | undefined {
  if (machine.type === 'PublicKey') {
    parsePublicKey(machine.publicKey)
    return { type: 'PublicKey', sha256: sha256Hex(machine.publicKey) }
  }
  const endorsementKey = parsePublicArea(machine.endorsementKey)
  const isRight =
    isEndorsementKey(endorsementKey) && isAttestationKey(parsePublicArea(machine.attestationKey))
  return isRight ? { type: 'TPM', sha256: sha256Hex(endorsementKey.spki) } : undefined
}

/** The name of the attestation key that the challenge is bound to, in hexadecimal. */
export function attestationKeyName(publicArea: Uint8Array): string {
  return Buffer.from(nameOfKey(publicArea)).toString('hex')
}

/**
 * Whether the proof answers this challenge, for the node, the key and the machine it was asked for. Throws TPM_MALFORMED,
 * X509_MALFORMED or X509_UNSUPPORTED_KEY.
 */
export function isProven(
  asked: AskedChallenge,
  clusterUid: string,
  { nodeName, spki, machine, proof }: Pick<FinishRequest, keyof BeginRequest | 'proof'>,
): boolean {
  // The key for which it was asked: a relayed proof is good for nobody else's.
  if (sha256Hex(spki) !== asked.spki) return false
  const nonce = new Uint8Array(Buffer.from(asked.nonce, 'base64'))
  const qualifying = qualifyingData({ nonce, clusterUid }, { nodeName, spki })
  if (machine.type === 'PublicKey') {
    if (proof.type !== 'PublicKey' || asked.attestationKey !== undefined) return false
    const { publicKey } = machine
    const keyType = parsePublicKey(publicKey).type
    const signed = {
      tbs: signedText(qualifying),
      signatureAlgorithm: signatureAlgorithmOf(keyType),
      signature: proof.signature,
    }
    return checkSignature(signed, { spki: publicKey, keyType }).ok
  }
  if (proof.type !== 'TPM' || asked.attestationKey !== attestationKeyName(machine.attestationKey))
    return false
  // Only the TPM with the endorsement key could open it, and only because the attestation key is in it too.
  if (!sameText(sha256Hex(proof.secret), asked.secretHash ?? '')) return false
  return verifyAttestation(proof, machine.attestationKey, qualifying)?.type === 'quote'
}

function sameText(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
