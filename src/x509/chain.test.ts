import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { generateSigner, type PrivateKeySigner } from '../keys/private-key.ts'
import { keyIdentifier } from '../keys/self-signed.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { type Certificate, encodeTbsCertificate, parseCertificate, verifyChain } from './certificate.ts'
import { type ExtensionContent, encodeExtensions } from './certificate-extensions.ts'
import { encode, encodeSequence } from './der-write.ts'
import type { Extension } from './extension.ts'
import { nameOf } from './name.ts'
import { oids } from './oid.ts'
import { assembleSigned } from './request.ts'

const random = seededRandom(1)
const hour = 3_600_000
const now = Date.UTC(2030, 0, 1, 12)
const client = { now, usage: 'clientAuth' } as const
const unknownAuthority = 'x509: certificate signed by unknown authority'

interface Party {
  name: string
  signer: PrivateKeySigner
}

interface Wish extends ExtensionContent {
  times?: [number, number]
  more?: Extension[]
  version1?: boolean
}

const party = (name: string): Party => ({ name, signer: generateSigner('Ed25519', random) })
const authority: ExtensionContent = { basicConstraints: { ca: true }, keyUsage: ['keyCertSign'] }
const clientLeaf: ExtensionContent = { extendedKeyUsage: [oids.clientAuth], basicConstraints: { ca: false } }

let serial = 0

async function certify(
  holder: Party,
  issuer: Party,
  { times, more = [], version1, ...content }: Wish,
): Promise<Certificate> {
  const subject = nameOf({ commonName: holder.name })
  const identified: ExtensionContent = {
    subjectKeyIdentifier: keyIdentifier(holder.signer.publicKey),
    authorityKeyIdentifier: keyIdentifier(issuer.signer.publicKey),
    ...content,
  }
  const [notBefore, notAfter] = times ?? [now - hour, now + hour]
  const tbs = encodeTbsCertificate({
    serialNumber: Uint8Array.of(++serial),
    algorithm: issuer.signer.algorithm,
    issuer: nameOf({ commonName: issuer.name }),
    notBefore,
    notAfter,
    subject,
    spki: holder.signer.publicKey,
    extensions: version1 ? [] : [...encodeExtensions(identified, subject), ...more],
  })
  const signed = version1 ? withoutVersion(tbs) : tbs
  return parseCertificate(assembleSigned(signed, issuer.signer.algorithm, await issuer.signer.sign(signed)))
}

/** A version 1 certificate has no version field: `[0] { INTEGER 2 }` is five octets at the front. */
function withoutVersion(tbs: Uint8Array): Uint8Array {
  const header = (tbs[1] ?? 0) < 0x80 ? 2 : 2 + ((tbs[1] ?? 0) & 0x7f)
  return encodeSequence(tbs.subarray(header + 5))
}

const root = party('root')
const middle = party('middle')
const node = party('system:node:n1')
let rootCertificate: Certificate
let middleCertificate: Certificate
let leaf: Certificate

before(async () => {
  rootCertificate = await certify(root, root, authority)
  middleCertificate = await certify(middle, root, authority)
  leaf = await certify(node, middle, clientLeaf)
})

const reasonOf = (
  chain: Certificate[],
  roots: Certificate[],
  options: Parameters<typeof verifyChain>[2] = client,
) => {
  const result = verifyChain(chain, roots, options)
  return result.ok ? 'ok' : result.reason
}

test('a chain through an intermediate holds, in any order of the rest', async () => {
  const stranger = await certify(party('stranger'), root, authority)
  assert.equal(reasonOf([leaf, middleCertificate], [rootCertificate]), 'ok')
  assert.equal(
    reasonOf([leaf, rootCertificate, stranger, middleCertificate], [stranger, rootCertificate]),
    'ok',
  )
  assert.equal(reasonOf([leaf], [middleCertificate]), 'ok')
})

test('a certificate that is itself a root is trusted', () => {
  assert.equal(reasonOf([leaf], [leaf]), 'ok')
})

test('without its issuer it is signed by an unknown authority', () => {
  assert.equal(reasonOf([leaf], [rootCertificate]), unknownAuthority)
  assert.equal(reasonOf([leaf, middleCertificate], []), unknownAuthority)
  assert.equal(reasonOf([], [rootCertificate]), 'x509: no certificate')
})

test('another CA of the same name is told apart by its key, and named in the reason', async () => {
  const impostor = party('middle')
  const other = await certify(impostor, root, authority)
  const hint =
    '(possibly because of "x509: Ed25519 verification failure" while trying to verify candidate authority certificate "middle")'
  assert.equal(reasonOf([leaf], [other]), `${unknownAuthority} ${hint}`)
  assert.equal(reasonOf([leaf], [other, middleCertificate]), 'ok')
})

test('a certificate is valid from its first to its last second, both included', async () => {
  const short = await certify(node, root, { ...clientLeaf, times: [now, now + 1000] })
  const at = (time: number) => reasonOf([short], [rootCertificate], { now: time, usage: 'clientAuth' })
  const text = 'x509: certificate has expired or is not yet valid: current time'
  assert.equal(at(now - 1), `${text} 2030-01-01T11:59:59Z is before 2030-01-01T12:00:00Z`)
  assert.equal(at(now), 'ok')
  assert.equal(at(now + 1000), 'ok')
  assert.equal(at(now + 2000), `${text} 2030-01-01T12:00:02Z is after 2030-01-01T12:00:01Z`)
})

test('an issuer that has expired does not count', async () => {
  const expired = await certify(root, root, { ...authority, times: [now - hour, now - 1000] })
  const fresh = await certify(node, root, clientLeaf)
  assert.match(
    reasonOf([fresh], [expired]),
    /unknown authority \(possibly because of "x509: certificate has expired/,
  )
  assert.equal(reasonOf([fresh], [expired, rootCertificate]), 'ok')
})

test('the extended key usage must be allowed along the whole path', async () => {
  const incompatible = 'x509: certificate specifies an incompatible key usage'
  assert.equal(
    reasonOf([leaf, middleCertificate], [rootCertificate], { now, usage: 'serverAuth' }),
    incompatible,
  )
  const usages: [string[] | undefined, string][] = [
    [undefined, 'ok'],
    [[oids.anyExtendedKeyUsage], 'ok'],
    [[oids.serverAuth], incompatible],
    [[oids.serverAuth, oids.clientAuth], 'ok'],
    [['1.2.3'], incompatible],
  ]
  for (const [extendedKeyUsage, expected] of usages) {
    const content = extendedKeyUsage === undefined ? {} : { extendedKeyUsage }
    const asLeaf = await certify(node, root, content)
    const asIssuer = await certify(middle, root, { ...authority, ...content })
    assert.equal(reasonOf([asLeaf], [rootCertificate]), expected)
    assert.equal(reasonOf([leaf, asIssuer], [rootCertificate]), expected)
  }
})

test('who is no CA cannot issue', async () => {
  const cannotSign = 'x509: invalid signature: parent certificate cannot sign this kind of certificate'
  const contents: ExtensionContent[] = [
    {},
    { basicConstraints: { ca: false } },
    { ...authority, keyUsage: ['digitalSignature'] },
  ]
  for (const content of contents) {
    const issuer = await certify(middle, root, content)
    const hint = `(possibly because of "${cannotSign}" while trying to verify candidate authority certificate "middle")`
    assert.equal(reasonOf([leaf, issuer], [rootCertificate]), `${unknownAuthority} ${hint}`)
    assert.equal(reasonOf([leaf], [issuer]), `${unknownAuthority} ${hint}`)
  }
})

test('a version 1 certificate is a CA as a root only', async () => {
  const old = await certify(middle, root, { version1: true })
  assert.equal(old.version, 1)
  assert.equal(reasonOf([leaf], [old]), 'ok')
  assert.match(
    reasonOf([leaf, old], [rootCertificate]),
    /certificate is not authorized to sign other certificates/,
  )
})

test('the path length of a CA is kept', async () => {
  const short = await certify(root, root, { ...authority, basicConstraints: { ca: true, pathLength: 0 } })
  const tooLong = /x509: too many intermediates for path length constraint/
  assert.match(reasonOf([leaf, middleCertificate], [short]), tooLong)
  const direct = await certify(node, root, clientLeaf)
  assert.equal(reasonOf([direct], [short]), 'ok')
  const one = await certify(root, root, { ...authority, basicConstraints: { ca: true, pathLength: 1 } })
  assert.equal(reasonOf([leaf, middleCertificate], [one]), 'ok')
})

test('a critical extension nobody understands makes a certificate unusable', async () => {
  const more = [{ id: '1.2.3', critical: true, value: Uint8Array.of(5, 0) }]
  const odd = await certify(node, root, { ...clientLeaf, more })
  assert.equal(reasonOf([odd], [rootCertificate]), 'x509: unhandled critical extension')
  const harmless = await certify(node, root, {
    ...clientLeaf,
    more: more.map(extension => ({ ...extension, critical: false })),
  })
  assert.equal(reasonOf([harmless], [rootCertificate]), 'ok')
  const unreadable = [{ id: oids.subjectAltName, critical: true, value: encodeSequence(encode(0xa4)) }]
  const nameless = await certify(node, root, { ...clientLeaf, more: unreadable })
  assert.equal(reasonOf([nameless], [rootCertificate]), 'x509: unhandled critical extension')
})

test('a CA whose keyUsage has no bit at all may sign, as for Go', async () => {
  const more = [{ id: oids.keyUsage, critical: true, value: Uint8Array.of(3, 1, 0) }]
  const issuer = await certify(middle, root, { basicConstraints: { ca: true }, more })
  assert.equal(reasonOf([leaf, issuer], [rootCertificate]), 'ok')
})

test('the names of every certificate below a CA must obey its constraints', async () => {
  const onlyExample = encodeSequence(encode(0xa0, encodeSequence(encode(0x82, Buffer.from('example.com')))))
  const more = [{ id: oids.nameConstraints, critical: true, value: onlyExample }]
  const narrow = await certify(root, root, { ...authority, more })
  const named = (dnsName: string) =>
    certify(node, middle, { ...clientLeaf, subjectAltName: { dnsNames: [dnsName] } })
  assert.equal(reasonOf([await named('n1.example.com'), middleCertificate], [narrow]), 'ok')
  assert.match(
    reasonOf([await named('n1.example.org'), middleCertificate], [narrow]),
    /not authorized to sign for this name: DNS name \\"n1\.example\.org\\" is not permitted by any constraint/,
  )
})

test('names are chained byte for byte: a re-encoded issuer name is another name', async () => {
  const reencoded = encodeSequence(
    encode(0x31, encodeSequence(Uint8Array.of(6, 3, 0x55, 4, 3), encode(0x0c, Buffer.from('root')))),
  )
  const tbs = encodeTbsCertificate({
    serialNumber: Uint8Array.of(9),
    algorithm: 'Ed25519',
    issuer: { raw: reencoded, rdns: [] },
    notBefore: now - hour,
    notAfter: now + hour,
    subject: nameOf({ commonName: 'a' }),
    spki: node.signer.publicKey,
    extensions: [],
  })
  const other = parseCertificate(assembleSigned(tbs, 'Ed25519', await root.signer.sign(tbs)))
  assert.equal(reasonOf([other], [rootCertificate]), unknownAuthority)
})

test('CAs that certify each other make no loop, and a hostile maze ends', async () => {
  const [a, b] = [party('a'), party('b')]
  const cross = [await certify(a, b, authority), await certify(b, a, authority)]
  assert.equal(reasonOf([await certify(node, a, clientLeaf), ...cross], [rootCertificate]), unknownAuthority)
  const twins = Array.from({ length: 12 }, () => party('a'))
  const maze = await Promise.all(
    twins.flatMap(twin => Array.from({ length: 12 }, () => certify(twin, a, authority))),
  )
  const lost = 'x509: signature check attempts limit reached while verifying certificate chain'
  assert.equal(reasonOf([await certify(node, a, clientLeaf), ...maze], [rootCertificate]), lost)
})
