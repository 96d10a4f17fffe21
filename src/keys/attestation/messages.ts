/**
 * What a machine and the controller say to each other when the machine proves which one it is: `POST /attest/v1/begin`,
 * then `POST /attest/v1/finish`. JSON; bytes in base64. Both are answered with `{code, message}` when they are refused.
 */
import { createHash } from 'node:crypto'

export const attestationPaths = { begin: '/attest/v1/begin', finish: '/attest/v1/finish' } as const

/** What the machine will prove that it holds. */
export type MachineKey =
  /** TPMT_PUBLIC of the endorsement key and of the attestation key. */
  | { type: 'TPM'; endorsementKey: Uint8Array; attestationKey: Uint8Array }
  /** SubjectPublicKeyInfo of a registered key. */
  | { type: 'PublicKey'; publicKey: Uint8Array }

export interface BeginRequest {
  nodeName: string
  machine: MachineKey
  /** SubjectPublicKeyInfo of the key that the certificate is to be for. */
  spki: Uint8Array
}

export interface Challenge {
  id: string
  nonce: Uint8Array
  /** UID of namespace kube-system, which stands for the cluster. */
  clusterUid: string
  /** For a TPM: what only it can open. */
  credential?: { credentialBlob: Uint8Array; encryptedSecret: Uint8Array }
}

export type Proof =
  /** The secret from the credential, and a quote (TPMS_ATTEST, TPMT_SIGNATURE) over the qualifying data. */
  | { type: 'TPM'; secret: Uint8Array; attested: Uint8Array; signature: Uint8Array }
  /** As X.509 carries signatures, over `signedText` of the qualifying data. */
  | { type: 'PublicKey'; signature: Uint8Array }

export interface FinishRequest extends BeginRequest {
  challenge: string
  proof: Proof
}

/** A bearer token for the API, and when it ends. */
export interface FinishAnswer {
  token: string
  expirationTimestamp: string
}

/** Why the controller refuses. `PENDING`: a person has to approve the machine first. */
export type RefusalCode = 'MALFORMED' | 'PENDING' | 'REVOKED' | 'OTHER_KEY' | 'NOT_PROVEN' | 'BUSY'

/**
 * What is proven along with the machine: SHA-256 of the nonce (32 bytes), the cluster's UID, the node's name and the SPKI
 * of the key. The verifier makes it from what it remembers of the challenge, so where one part ends and the next begins
 * cannot be moved.
 */
export function qualifyingData(
  { nonce, clusterUid }: Pick<Challenge, 'nonce' | 'clusterUid'>,
  { nodeName, spki }: Pick<BeginRequest, 'nodeName' | 'spki'>,
): Uint8Array {
  const hash = createHash('sha256').update(nonce).update(clusterUid).update(nodeName).update(spki)
  return new Uint8Array(hash.digest())
}

/** What a registered key signs: nothing else that it is used for looks like it. */
export function signedText(qualifying: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.concat([Buffer.from('rollcall.dev attestation v1\n'), qualifying]))
}
