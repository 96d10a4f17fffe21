import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { generateSigner } from '../../keys/private-key.ts'
import { issueCertificate, selfSignedCa } from '../../keys/self-signed.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { nameOf } from '../../x509/name.ts'
import { type ClusterTrustBundle, clusterTrustBundles } from './clustertrustbundles.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const times = { notBefore: now, notAfter: now + 1000 }
const anchors: string[] = []
let leaf = ''

before(async () => {
  for (const seed of [1, 2]) {
    const random = seededRandom(seed)
    const signer = generateSigner('Ed25519', random)
    anchors.push(await selfSignedCa({ commonName: `ca-${seed}`, signer, random, ...times }))
    const [certificate] = parseCertificatesPem(anchors[0] ?? '')
    assert.ok(certificate)
    leaf = await issueCertificate({
      ca: { certificate, signer },
      subject: nameOf({ commonName: 'leaf' }),
      spki: signer.publicKey,
      random,
      extensions: {},
      ...times,
    })
  }
})

function bundle(name: string, trustBundle: string, signerName?: string): ClusterTrustBundle {
  const spec = { trustBundle, ...(signerName !== undefined && { signerName }) }
  return { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle', metadata: { name }, spec }
}
const complaints = (errors: { field: string; text: string }[]) =>
  errors.map(({ field, text }) => `${field}: ${text}`)
const of = (...object: Parameters<typeof bundle>) =>
  complaints(clusterTrustBundles.validate(bundle(...object)))

test('T-1: a bundle of a signer is named after it, one without has no colon', () => {
  const [ca = ''] = anchors
  assert.deepEqual(of('example.com:a:roots', ca, 'example.com/a'), [])
  assert.deepEqual(of('roots', ca), [])
  assert.deepEqual(of('roots', ca, 'example.com/a'), [
    'metadata.name: Invalid value: "roots": ClusterTrustBundle for signerName example.com/a must be named with prefix example.com:a:',
  ])
  assert.deepEqual(of('a:b', ca), [
    'metadata.name: Invalid value: "a:b": ClusterTrustBundle without signer name must not have ":" in its name',
  ])
})

test('T-1: a bundle holds CA certificates, at least one, each once, and nothing else', () => {
  const omitted = 'spec.trustBundle: Invalid value: "<value omitted>"'
  const [one = '', two = ''] = anchors
  assert.deepEqual(of('b', one + two), [])
  assert.deepEqual(of('b', ''), [`${omitted}: at least one trust anchor must be provided`])
  assert.deepEqual(of('b', one + two + one), [`${omitted}: duplicate trust anchor (indices [0 2])`])
  assert.deepEqual(of('b', one + leaf), [`${omitted}: entry 1 does not have the CA bit set`])
  const block = (label: string, head = '') =>
    `-----BEGIN ${label}-----\n${head}AAAA\n-----END ${label}-----\n`
  assert.deepEqual(of('b', block('PRIVATE KEY')), [`${omitted}: entry 0 has bad block type: PRIVATE KEY`])
  assert.deepEqual(of('b', block('CERTIFICATE')), [`${omitted}: entry 0 does not parse as X.509`])
  assert.deepEqual(of('b', block('CERTIFICATE', 'Key: value\n\n')), [
    `${omitted}: entry 0 has PEM block headers`,
  ])
  assert.deepEqual(of('b', ' '.repeat(1024 * 1024 + 1)), [
    'spec.trustBundle: Too long: may not be more than 1048576 bytes',
  ])
})

test('T-1: the signer of a bundle cannot change, and what is there already is not judged again', () => {
  const [ca = ''] = anchors
  const previous = bundle('example.com:a:b', 'bad', 'example.com/a')
  assert.deepEqual(clusterTrustBundles.validateUpdate(structuredClone(previous), previous), [])
  const moved = bundle('example.com:a:b', ca, 'example.com/b')
  assert.deepEqual(complaints(clusterTrustBundles.validateUpdate(moved, previous)).slice(1), [
    'spec.signerName: Invalid value: "example.com/b": field is immutable',
  ])
})

test('A-23: a bundle shows its name and its signer', () => {
  const cells = (object: ClusterTrustBundle) =>
    clusterTrustBundles.columns.map(({ value }) => value(object, now))
  assert.deepEqual(
    clusterTrustBundles.columns.map(({ name }) => name),
    ['Name', 'SignerName'],
  )
  assert.deepEqual(cells(bundle('a', '', 'example.com/a')), ['a', 'example.com/a'])
  assert.deepEqual(cells(bundle('a', '')), ['a', '<none>'])
})
