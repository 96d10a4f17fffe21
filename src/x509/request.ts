import { RollcallError } from '../errors.ts'
import {
  encodeSignatureAlgorithm,
  hasStandardParameters,
  isSignatureAlgorithm,
  readAlgorithmIdentifier,
  type SignatureAlgorithm,
  signatureAlgorithmName,
} from './algorithms.ts'
import { contextTag, DerReader, plainBytes, tags } from './der.ts'
import {
  encode,
  encodeBitString,
  encodeOid,
  encodeSequence,
  encodeSetOf,
  encodeSmallInteger,
} from './der-write.ts'
import { type Extension, encodeExtension, findExtension } from './extension.ts'
import { type Name, readName } from './name.ts'
import { type NoteOddity, type Oddity, oddityNotes } from './oddity.ts'
import { oids } from './oid.ts'
import { readPublicKey } from './public-key.ts'
import { readRequestedExtensions } from './request-attributes.ts'
import { noteKeyOddities, noteSubjectOddities } from './request-oddities.ts'
import {
  emptySubjectAltName,
  encodeSubjectAltName,
  hasNames,
  parseSubjectAltName,
  type SubjectAltName,
} from './san.ts'
import { checkSignatureOnce } from './signature-once.ts'

export type { Oddity } from './oddity.ts'

/** A PKCS#10 request (RFC 2986). All bytes are views on `raw`. */
export interface CertificateRequest {
  raw: Uint8Array
  /** The signed part, CertificationRequestInfo. */
  tbs: Uint8Array
  subject: Name
  /** SubjectPublicKeyInfo in DER. */
  spki: Uint8Array
  /** `P-256`, `RSA-2048`, `Ed25519`, … */
  keyType: string
  /** A SignatureAlgorithm, the name of another algorithm Go knows, or a dotted identifier. */
  signatureAlgorithm: string
  signature: Uint8Array
  /** The requested extensions Go sees, in order. */
  extensions: Extension[]
  subjectAltName: SubjectAltName
  /** What Go accepts and judgement does not. */
  oddities: Oddity[]
}

const parsed = new WeakMap<Uint8Array, CertificateRequest>()

/**
 * Parses a request. Whatever Go's ParseCertificateRequest refuses is refused: throws X509_MALFORMED. The result is kept as
 * long as `bytes`, which must not change any more, and shared.
 */
export function parseCertificateRequest(bytes: Uint8Array): CertificateRequest {
  const known = parsed.get(bytes)
  if (known) return known
  const request = parse(bytes)
  parsed.set(bytes, request)
  return request
}

/** `parseCertificateRequest`, for who reads thousands and looks at each once: nothing of them is remembered. */
export function parseCertificateRequestUnkept(bytes: Uint8Array): CertificateRequest {
  return parse(bytes)
}

function parse(bytes: Uint8Array): CertificateRequest {
  const der = plainBytes(bytes)
  const { oddities, note } = oddityNotes()
  const outer = new DerReader(der, 'certificate request')
  const request = outer.enter(tags.sequence)
  outer.finish()
  const { start, content, end } = request.expect(tags.sequence, 'CertificationRequestInfo')
  const tbs = der.subarray(start, end)
  const info = readInfo(new DerReader(der, 'CertificationRequestInfo', content, end), note)
  const identifier = readAlgorithmIdentifier(request, 'signature algorithm', true)
  const { bytes: signature, unusedBits } = request.bitString('signature')
  if (!request.atEnd) note('trailing-elements', 'certificate request')
  if (unusedBits !== 0) note('signature-bits')
  const signatureAlgorithm = signatureAlgorithmName(identifier)
  if (!hasStandardParameters(identifier, signatureAlgorithm)) note('signature-parameters')
  noteAlgorithm(signatureAlgorithm, note)
  return { raw: der, tbs, ...info, signatureAlgorithm, signature: aligned(signature, unusedBits), oddities }
}

function readInfo(reader: DerReader, note: NoteOddity) {
  if (reader.smallInteger('version') !== 0) note('version-not-zero')
  const subject = readName(reader, 'subject', note)
  const key = readPublicKey(reader, note)
  const extensions = readRequestedExtensions(reader.enter(contextTag(0, true), 'attributes'), note)
  if (!reader.atEnd) note('trailing-elements', 'CertificationRequestInfo')
  const san = findExtension(extensions, oids.subjectAltName)
  noteSubjectOddities(subject, note)
  noteKeyOddities(key.type, note)
  return {
    subject,
    spki: key.spki,
    keyType: key.type,
    extensions,
    subjectAltName: san === undefined ? emptySubjectAltName() : parseSubjectAltName(san.value, note),
  }
}

function noteAlgorithm(name: string, note: NoteOddity): void {
  if (name === 'ecdsa-with-SHA1' || name === 'sha1WithRSAEncryption') note('signature-sha1')
  else if (!isSignatureAlgorithm(name)) note('signature-algorithm', name)
}

/** Go shifts a signature whose bit string has unused bits to the right. */
function aligned(bytes: Uint8Array, unusedBits: number): Uint8Array {
  if (unusedBits === 0) return bytes
  return bytes.map((byte, i) => (byte >>> unusedBits) | (((bytes[i - 1] ?? 0) << (8 - unusedBits)) & 0xff))
}

/** Whether the request is signed with its own key. Verified once, then remembered by the SHA-256 of its bytes. */
export function requestSignatureIsValid(request: CertificateRequest): boolean {
  return checkSignatureOnce(request, request, true).ok
}

/** Throws X509_BAD_SIGNATURE with Go's reason unless the request is signed with its own key. */
export function requireRequestSignature(request: CertificateRequest): void {
  const check = checkSignatureOnce(request, request, true)
  if (!check.ok) throw new RollcallError('X509_BAD_SIGNATURE', `certificate request: ${check.reason}`)
}

export interface RequestInfo {
  subject: Name
  /** SubjectPublicKeyInfo in DER. */
  spki: Uint8Array
  subjectAltName?: Partial<SubjectAltName>
}

/** The part of a request that is signed, as Go's CreateCertificateRequest writes it. */
export function encodeRequestInfo({ subject, spki, subjectAltName }: RequestInfo): Uint8Array {
  const san = { ...emptySubjectAltName(), ...subjectAltName }
  const attributes = hasNames(san) ? [extensionRequest(san)] : []
  return encodeSequence(encodeSmallInteger(0), subject.raw, spki, encode(contextTag(0, true), ...attributes))
}

function extensionRequest(san: SubjectAltName): Uint8Array {
  const extension = encodeExtension({
    id: oids.subjectAltName,
    critical: false,
    value: encodeSubjectAltName(san),
  })
  return encodeSequence(encodeOid(oids.extensionRequest), encodeSetOf([encodeSequence(extension)]))
}

/** A signed structure (request or certificate) from its signed part, the algorithm and the signature. */
export function assembleSigned(
  tbs: Uint8Array,
  algorithm: SignatureAlgorithm,
  signature: Uint8Array,
): Uint8Array {
  return encodeSequence(tbs, encodeSignatureAlgorithm(algorithm), encodeBitString(signature))
}
