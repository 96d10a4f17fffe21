import {
  encodeSignatureAlgorithm,
  readAlgorithmIdentifier,
  type SignatureAlgorithm,
  signatureAlgorithmName,
} from './algorithms.ts'
import { type ExtensionFields, readExtensionFields } from './certificate-extensions.ts'
import { contextTag, DerReader, plainBytes, tags } from './der.ts'
import { encode, encodeSequence, encodeSmallInteger, encodeUnsigned } from './der-write.ts'
import { type Extension, encodedExtensions, findExtension, readExtension } from './extension.ts'
import { type Name, readName } from './name.ts'
import { decodePem, decodePemOnce, type PemBlock } from './pem.ts'
import { type KnownKey, readPublicKey } from './public-key.ts'
import { checkSignatureOnce } from './signature-once.ts'
import { encodeTime, readTime } from './time.ts'

// The door of this room for those who hold certificates.
export { verifyChain } from './chain.ts'

/** An X.509 certificate (RFC 5280). All bytes are views on `raw`. */
export interface Certificate extends ExtensionFields {
  raw: Uint8Array
  /** The signed part, TBSCertificate. */
  tbs: Uint8Array
  version: 1 | 2 | 3
  /** Content octets of the INTEGER, so with a leading zero where the top bit is set. */
  serialNumber: Uint8Array
  issuer: Name
  subject: Name
  /** Milliseconds since the epoch; the first moment it is valid. */
  notBefore: number
  /** Milliseconds since the epoch; the last moment it is valid. */
  notAfter: number
  /** SubjectPublicKeyInfo in DER. */
  spki: Uint8Array
  /** `P-256`, `RSA-2048`, `Ed25519`, … */
  keyType: string
  /** A SignatureAlgorithm, the name of another algorithm Go knows, or a dotted identifier. */
  signatureAlgorithm: string
  signature: Uint8Array
  extensions: Extension[]
}

const parsed = new WeakMap<Uint8Array, Certificate>()

/** `parseCertificate`, whose result is kept as long as `bytes`, which must not change any more, and shared. */
export function parseCertificateOnce(bytes: Uint8Array): Certificate {
  const known = parsed.get(bytes)
  if (known) return known
  const certificate = parseCertificate(bytes)
  parsed.set(bytes, certificate)
  return certificate
}

/** What `parseCertificateOnce` gives for the bytes of a certificate that was just made. */
export function rememberCertificate(certificate: Certificate): void {
  parsed.set(certificate.raw, certificate)
}

/** Parses a certificate. Whatever Go's ParseCertificate refuses is refused: throws X509_MALFORMED. */
export function parseCertificate(bytes: Uint8Array): Certificate {
  return parse(bytes)
}

/** `parseCertificate`. A public key that was read before and is the same to the byte is not looked into again. */
export function parseCertificateOf(known: KnownKey, bytes: Uint8Array): Certificate {
  return parse(bytes, known)
}

function parse(bytes: Uint8Array, known?: KnownKey): Certificate {
  const der = plainBytes(bytes)
  const outer = new DerReader(der, 'certificate')
  const signed = outer.enter(tags.sequence)
  outer.finish()
  const { start, content, end } = signed.expect(tags.sequence, 'TBSCertificate')
  const info = readTbs(new DerReader(der, 'TBSCertificate', content, end), known)
  const algorithm = readAlgorithmIdentifier(signed, 'signature algorithm')
  const { bytes: signature, unusedBits } = signed.bitString('signature')
  signed.finish()
  if (unusedBits !== 0) throw signed.fail('the signature has unused bits')
  const { innerAlgorithm, ...fields } = info
  if (Buffer.compare(innerAlgorithm, algorithm.raw) !== 0) {
    throw outer.fail('inner and outer signature algorithm identifiers do not match')
  }
  const signatureAlgorithm = signatureAlgorithmName(algorithm)
  return { raw: der, tbs: der.subarray(start, end), ...fields, signatureAlgorithm, signature }
}

/**
 * The certificate in `bytes`, whose signed part was parsed already, in `parsedBefore`: only what is around it is read.
 * Throws X509_MALFORMED when the signed part is another.
 */
export function withSignature(parsedBefore: Certificate, bytes: Uint8Array): Certificate {
  const raw = plainBytes(bytes)
  const outer = new DerReader(raw, 'certificate')
  const signed = outer.enter(tags.sequence)
  outer.finish()
  const { start, end } = signed.expect(tags.sequence, 'TBSCertificate')
  const tbs = raw.subarray(start, end)
  if (Buffer.compare(tbs, parsedBefore.tbs) !== 0) throw outer.fail('the signed part is not the one expected')
  const signatureAlgorithm = signatureAlgorithmName(readAlgorithmIdentifier(signed, 'signature algorithm'))
  const { bytes: signature } = signed.bitString('signature')
  signed.finish()
  if (signatureAlgorithm !== parsedBefore.signatureAlgorithm)
    throw outer.fail('inner and outer signature algorithm identifiers do not match')
  return { ...parsedBefore, raw, tbs, signature }
}

function readTbs(reader: DerReader, known?: KnownKey) {
  const version = readVersion(reader)
  const serialNumber = reader.integer('serial number')
  if ((serialNumber[0] ?? 0) >= 0x80) throw reader.fail('negative serial number')
  const innerAlgorithm = readAlgorithmIdentifier(reader, 'signature algorithm').raw
  const issuer = readName(reader, 'issuer')
  const validity = reader.enter(tags.sequence, 'validity')
  const notBefore = readTime(validity, 'notBefore')
  const notAfter = readTime(validity, 'notAfter')
  validity.finish()
  const subject = readName(reader, 'subject')
  const key = readPublicKeyUnless(known, reader)
  const extensions = readExtensions(reader, version)
  const { spki, type: keyType } = key
  const names = { issuer, subject, notBefore, notAfter }
  const fields = readExtensionFields(extensions)
  return { version, serialNumber, innerAlgorithm, ...names, spki, keyType, extensions, ...fields }
}

function readPublicKeyUnless(known: KnownKey | undefined, reader: DerReader): KnownKey {
  if (known === undefined) return readPublicKey(reader)
  const from = reader.position
  const spki = reader.raw(tags.sequence, 'public key')
  if (Buffer.compare(spki, known.spki) === 0) return { spki, type: known.type }
  return readPublicKey(new DerReader(reader.bytes, reader.structure, from, reader.position))
}

function readVersion(reader: DerReader): 1 | 2 | 3 {
  if (reader.peek() !== contextTag(0, true)) return 1
  const explicit = reader.enter(contextTag(0, true), 'version')
  const version = explicit.smallInteger() + 1
  explicit.finish()
  if (version !== 1 && version !== 2 && version !== 3) throw explicit.fail(`invalid version ${version}`)
  return version
}

function readExtensions(reader: DerReader, version: 1 | 2 | 3): Extension[] {
  const uniqueIdentifiers = version === 1 ? [] : [contextTag(1, false), contextTag(2, false)]
  for (const tag of uniqueIdentifiers) if (reader.peek() === tag) reader.element()
  const extensions: Extension[] = []
  if (version === 3 && reader.peek() === contextTag(3, true)) {
    const explicit = reader.enter(contextTag(3, true), 'extensions')
    const list = explicit.enter(tags.sequence)
    explicit.finish()
    while (!list.atEnd) {
      const extension = readExtension(list)
      if (findExtension(extensions, extension.id)) throw list.fail(`duplicate extension ${extension.id}`)
      extensions.push(extension)
    }
  }
  reader.finish()
  return extensions
}

/** Every certificate of the text, in order; as in client-go, PEM blocks with another label or with headers are skipped. */
export function parseCertificatesPem(text: string): Certificate[] {
  return certificateBlocks(decodePemOnce(text)).map(parseCertificateOnce)
}

/** `parseCertificatesPem`, for who reads thousands and looks at each once: nothing of them is remembered. */
export function parseCertificatesPemUnkept(text: string): Certificate[] {
  return certificateBlocks(decodePem(text)).map(parseCertificate)
}

function certificateBlocks(blocks: readonly PemBlock[]): Uint8Array[] {
  return blocks.flatMap(({ label, headers, bytes }) => (label === 'CERTIFICATE' && !headers ? [bytes] : []))
}

export interface CertificateFields {
  /** Big-endian; must be positive and fit in 20 octets. */
  serialNumber: Uint8Array
  algorithm: SignatureAlgorithm
  /** The issuer's subject, raw: re-encoding would break the chain. */
  issuer: Name
  /** Milliseconds since the epoch. */
  notBefore: number
  /** Milliseconds since the epoch. */
  notAfter: number
  subject: Name
  /** SubjectPublicKeyInfo in DER. */
  spki: Uint8Array
  extensions: readonly Extension[]
}

const version3 = encode(contextTag(0, true), encodeSmallInteger(2))

/** The part of a version 3 certificate that is signed. Throws RangeError on a serial number that RFC 5280 forbids. */
export function encodeTbsCertificate(fields: CertificateFields): Uint8Array {
  const serialNumber = encodeUnsigned(fields.serialNumber)
  if (serialNumber.length - 2 > 20 || fields.serialNumber.every(byte => byte === 0)) {
    throw new RangeError('a serial number must be positive and at most 20 octets (RFC 5280 4.1.2.2)')
  }
  const { extensions } = fields
  return encodeSequence(
    version3,
    serialNumber,
    encodeSignatureAlgorithm(fields.algorithm),
    fields.issuer.raw,
    encodeSequence(encodeTime(fields.notBefore), encodeTime(fields.notAfter)),
    fields.subject.raw,
    fields.spki,
    ...(extensions.length === 0
      ? []
      : [encode(contextTag(3, true), encodeSequence(...encodedExtensions(extensions)))]),
  )
}

/** Whether the issuer's key signed the certificate. Nothing else of the issuer is looked at; SHA-1 never counts. */
export function certificateSignatureIsValid(certificate: Certificate, issuer: Certificate): boolean {
  return checkSignatureOnce(certificate, issuer).ok
}
