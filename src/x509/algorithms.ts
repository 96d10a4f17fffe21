import { type DerReader, tags } from './der.ts'
import { encode, encodedNull, encodeOid, encodeSequence, encodeSmallInteger } from './der-write.ts'

/** The signature algorithms Rollcall signs and verifies with. Anything else is X509_UNSUPPORTED_KEY. */
export type SignatureAlgorithm =
  | 'ecdsa-with-SHA256'
  | 'ecdsa-with-SHA384'
  | 'ecdsa-with-SHA512'
  | 'sha256WithRSAEncryption'
  | 'sha384WithRSAEncryption'
  | 'sha512WithRSAEncryption'
  | 'Ed25519'

/** What Go also knows. Rollcall never signs with these; SHA-1 and RSA-PSS requests verify, with an oddity. */
export type ForeignAlgorithm =
  | 'ecdsa-with-SHA1'
  | 'sha1WithRSAEncryption'
  | 'md5WithRSAEncryption'
  | 'RSASSA-PSS-SHA256'
  | 'RSASSA-PSS-SHA384'
  | 'RSASSA-PSS-SHA512'

export type Digest = 'md5' | 'sha1' | 'sha256' | 'sha384' | 'sha512'

interface AlgorithmFacts {
  oid: string
  /** Whether RFC 5280's profiles have NULL parameters or none; RSA-PSS carries a structure of its own. */
  parameters: 'null' | 'absent' | 'pss'
  key: 'ECDSA' | 'RSA' | 'Ed25519'
  /** None where the algorithm hashes by itself. */
  digest?: Digest
  /** Go's name, for its error texts. */
  go: string
}

export type AnyAlgorithm = SignatureAlgorithm | ForeignAlgorithm

const ecdsa = (last: string, digest: Digest, go: string): AlgorithmFacts => {
  return { oid: `1.2.840.10045.4.${last}`, parameters: 'absent', key: 'ECDSA', digest, go }
}
const rsa = (last: number, digest: Digest, go: string): AlgorithmFacts => {
  return { oid: `1.2.840.113549.1.1.${last}`, parameters: 'null', key: 'RSA', digest, go }
}
const pss = (digest: Digest, go: string): AlgorithmFacts => {
  return { oid: '1.2.840.113549.1.1.10', parameters: 'pss', key: 'RSA', digest, go }
}

const facts: Readonly<Record<AnyAlgorithm, AlgorithmFacts>> = {
  'ecdsa-with-SHA256': ecdsa('3.2', 'sha256', 'ECDSA-SHA256'),
  'ecdsa-with-SHA384': ecdsa('3.3', 'sha384', 'ECDSA-SHA384'),
  'ecdsa-with-SHA512': ecdsa('3.4', 'sha512', 'ECDSA-SHA512'),
  sha256WithRSAEncryption: rsa(11, 'sha256', 'SHA256-RSA'),
  sha384WithRSAEncryption: rsa(12, 'sha384', 'SHA384-RSA'),
  sha512WithRSAEncryption: rsa(13, 'sha512', 'SHA512-RSA'),
  Ed25519: { oid: '1.3.101.112', parameters: 'absent', key: 'Ed25519', go: 'Ed25519' },
  'ecdsa-with-SHA1': ecdsa('1', 'sha1', 'ECDSA-SHA1'),
  sha1WithRSAEncryption: rsa(5, 'sha1', 'SHA1-RSA'),
  md5WithRSAEncryption: rsa(4, 'md5', 'MD5-RSA'),
  'RSASSA-PSS-SHA256': pss('sha256', 'SHA256-RSAPSS'),
  'RSASSA-PSS-SHA384': pss('sha384', 'SHA384-RSAPSS'),
  'RSASSA-PSS-SHA512': pss('sha512', 'SHA512-RSAPSS'),
}

const foreign: ReadonlySet<string> = new Set<ForeignAlgorithm>([
  'ecdsa-with-SHA1',
  'sha1WithRSAEncryption',
  'md5WithRSAEncryption',
  'RSASSA-PSS-SHA256',
  'RSASSA-PSS-SHA384',
  'RSASSA-PSS-SHA512',
])

export function isKnownAlgorithm(name: string): name is AnyAlgorithm {
  return Object.hasOwn(facts, name)
}

/** Whether Rollcall signs with it too. */
export function isSignatureAlgorithm(name: string): name is SignatureAlgorithm {
  return isKnownAlgorithm(name) && !foreign.has(name)
}

export function algorithmFacts(name: AnyAlgorithm): Readonly<AlgorithmFacts> {
  return facts[name]
}

/** An AlgorithmIdentifier as it stands in the bytes. */
export interface AlgorithmIdentifier {
  raw: Uint8Array
  oid: string
  /** The parameters element whole, or undefined where there is none. */
  parameters: Uint8Array | undefined
}

/** Reads the next element as an AlgorithmIdentifier. `tolerant`: more elements may follow (Go allows it in requests). */
export function readAlgorithmIdentifier(
  reader: DerReader,
  structure: string,
  tolerant = false,
): AlgorithmIdentifier {
  const from = reader.position
  const inside = reader.enter(tags.sequence, structure)
  const oid = inside.oid()
  let parameters: Uint8Array | undefined
  if (!inside.atEnd) {
    const { start, end } = inside.element()
    parameters = inside.bytes.subarray(start, end)
  }
  if (!tolerant) inside.finish()
  return { raw: reader.bytes.subarray(from, inside.end), oid, parameters }
}

const namesByOid: ReadonlyMap<string, readonly AnyAlgorithm[]> = Map.groupBy(
  Object.keys(facts).filter(isKnownAlgorithm),
  name => facts[name].oid,
)

/** The algorithm's name, or its dotted identifier where Go does not know it either. */
export function signatureAlgorithmName(identifier: AlgorithmIdentifier): string {
  const name = namesByOid.get(identifier.oid)?.find(candidate => {
    const { parameters, digest } = facts[candidate]
    if (parameters === 'pss') return isPssOf(identifier, digest)
    // RFC 8410 and Go: Ed25519 with parameters is another algorithm. ECDSA and RSA go by the identifier alone.
    return candidate !== 'Ed25519' || identifier.parameters === undefined
  })
  return name ?? identifier.oid
}

/** Whether the parameters are what the standard demands for the algorithm. */
export function hasStandardParameters(identifier: AlgorithmIdentifier, name: string): boolean {
  if (!isKnownAlgorithm(name) || facts[name].parameters === 'pss') return true
  if (facts[name].parameters === 'absent') return identifier.parameters === undefined
  return identifier.parameters !== undefined && Buffer.compare(identifier.parameters, encodedNull) === 0
}

const encoded = new Map<SignatureAlgorithm, Uint8Array>()

/** An AlgorithmIdentifier in DER. Shared: not to be changed. */
export function encodeSignatureAlgorithm(name: SignatureAlgorithm): Uint8Array {
  const known = encoded.get(name)
  if (known) return known
  const { oid, parameters } = facts[name]
  const bytes = encodeSequence(encodeOid(oid), ...(parameters === 'null' ? [encodedNull] : []))
  encoded.set(name, bytes)
  return bytes
}

const pssDigests: Partial<Record<Digest, { oid: string; saltLength: number }>> = {
  sha256: { oid: '2.16.840.1.101.3.4.2.1', saltLength: 32 },
  sha384: { oid: '2.16.840.1.101.3.4.2.2', saltLength: 48 },
  sha512: { oid: '2.16.840.1.101.3.4.2.3', saltLength: 64 },
}

/** Go takes RSA-PSS only with MGF1 of the same digest, a salt as long as the digest and the default trailer. */
function isPssOf(identifier: AlgorithmIdentifier, digest: Digest | undefined): boolean {
  const known = digest === undefined ? undefined : pssDigests[digest]
  const { parameters } = identifier
  if (known === undefined || parameters === undefined) return false
  const bare = encodeSequence(encodeOid(known.oid))
  const withNull = encodeSequence(encodeOid(known.oid), encodedNull)
  const forms = [bare, withNull].flatMap(hash =>
    [bare, withNull].map(mask => pssParameters(hash, mask, known.saltLength)),
  )
  return forms.some(form => Buffer.compare(form, parameters) === 0)
}

function pssParameters(hash: Uint8Array, maskHash: Uint8Array, saltLength: number): Uint8Array {
  const mask = encodeSequence(encodeOid('1.2.840.113549.1.1.8'), maskHash)
  return encodeSequence(encode(0xa0, hash), encode(0xa1, mask), encode(0xa2, encodeSmallInteger(saltLength)))
}
