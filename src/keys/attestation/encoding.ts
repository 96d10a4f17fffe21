/** The messages as JSON. What is read comes from anybody: each part is checked, and nothing else is taken. */
import { RollcallError } from '../../errors.ts'
import type { BeginRequest, Challenge, FinishRequest, MachineKey, Proof } from './messages.ts'

type Json = Record<string, unknown>

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
/** Characters of a text, and of bytes in base64. */
const mostText = 4096

export function encodeBegin({ nodeName, machine, spki }: BeginRequest): Json {
  const key =
    machine.type === 'TPM'
      ? {
          type: machine.type,
          endorsementKey: base64(machine.endorsementKey),
          attestationKey: base64(machine.attestationKey),
        }
      : { type: machine.type, publicKey: base64(machine.publicKey) }
  return { nodeName, machine: key, spki: base64(spki) }
}

export function encodeFinish(request: FinishRequest): Json {
  const { challenge, proof } = request
  const { type, signature } = proof
  const more = proof.type === 'TPM' ? { secret: base64(proof.secret), attested: base64(proof.attested) } : {}
  return { ...encodeBegin(request), challenge, proof: { type, signature: base64(signature), ...more } }
}

export function encodeChallenge({ id, nonce, clusterUid, credential }: Challenge): Json {
  return {
    id,
    nonce: base64(nonce),
    clusterUid,
    ...(credential && {
      credential: {
        credentialBlob: base64(credential.credentialBlob),
        encryptedSecret: base64(credential.encryptedSecret),
      },
    }),
  }
}

/** Throws ATTESTATION_REFUSED, as all of these. */
export function decodeBegin(value: unknown): BeginRequest {
  const message = record(value, 'the message')
  return {
    nodeName: text(message.nodeName, 'nodeName'),
    machine: decodeMachine(message.machine),
    spki: bytes(message.spki, 'spki'),
  }
}

export function decodeFinish(value: unknown): FinishRequest {
  const message = record(value, 'the message')
  return {
    ...decodeBegin(message),
    challenge: text(message.challenge, 'challenge'),
    proof: decodeProof(message.proof),
  }
}

export function decodeChallenge(value: unknown): Challenge {
  const message = record(value, 'the challenge')
  const credential = message.credential === undefined ? undefined : record(message.credential, 'credential')
  return {
    id: text(message.id, 'id'),
    nonce: bytes(message.nonce, 'nonce'),
    clusterUid: text(message.clusterUid, 'clusterUid'),
    ...(credential && {
      credential: {
        credentialBlob: bytes(credential.credentialBlob, 'credentialBlob'),
        encryptedSecret: bytes(credential.encryptedSecret, 'encryptedSecret'),
      },
    }),
  }
}

function decodeMachine(value: unknown): MachineKey {
  const { type, endorsementKey, attestationKey, publicKey } = record(value, 'machine')
  if (type === 'PublicKey') return { type, publicKey: bytes(publicKey, 'publicKey') }
  if (type !== 'TPM') throw malformed('machine.type')
  return {
    type,
    endorsementKey: bytes(endorsementKey, 'endorsementKey'),
    attestationKey: bytes(attestationKey, 'attestationKey'),
  }
}

function decodeProof(value: unknown): Proof {
  const { type, signature, secret, attested } = record(value, 'proof')
  if (type === 'PublicKey') return { type, signature: bytes(signature, 'signature') }
  if (type !== 'TPM') throw malformed('proof.type')
  return {
    type,
    signature: bytes(signature, 'signature'),
    secret: bytes(secret, 'secret'),
    attested: bytes(attested, 'attested'),
  }
}

function record(value: unknown, field: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(field)
  return value as Json
}

function text(value: unknown, field: string): string {
  if (typeof value !== 'string' || value === '' || value.length > mostText) throw malformed(field)
  return value
}

function bytes(value: unknown, field: string): Uint8Array {
  const encoded = text(value, field)
  const decoded = Buffer.from(encoded, 'base64')
  // Exactly one way to write it.
  if (decoded.toString('base64') !== encoded) throw malformed(field)
  return new Uint8Array(decoded)
}

function malformed(field: string): RollcallError {
  return new RollcallError('ATTESTATION_REFUSED', `${field} is missing or not of its form.`, {
    code: 'MALFORMED',
    field,
  })
}
