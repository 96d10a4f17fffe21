import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { generateSigner } from '../../keys/private-key.ts'
import { expectVerdict } from '../../testing/judged-cases.ts'
import { nodeNamed, servingFacts } from '../../testing/judged-request.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { signedRequest } from '../../testing/signed-request.ts'
import { formatIp } from '../../x509/ip.ts'
import { encodePem } from '../../x509/pem.ts'
import { AddressIndex } from '../address-index.ts'
import { judge } from '../judge.ts'
import { readRequest } from '../read-request.ts'
import { subjectNode } from '../subject-node.ts'

const signer = generateSigner('Ed25519', seededRandom(5))
const pem = await signedRequest({
  signer,
  commonName: 'system:node:worker-1',
  subjectAltName: { dnsNames: ['worker-1'] },
})
const read = (text: string) =>
  readRequest(servingFacts({ spec: { request: Buffer.from(text).toString('base64') } }).csr)

test('C1: a request that a kubelet writes is read and verified', () => {
  const { request, problem } = read(pem)
  assert.equal(problem, undefined)
  assert.deepEqual(request?.subjectAltName.dnsNames, ['worker-1'])
})

test('C10: CRLF line ends and blank lines around the block are accepted', () => {
  assert.equal(read(`\r\n\n${pem.replaceAll('\n', '\r\n')}\n`).problem, undefined)
})

for (const [what, text] of [
  ['C3 a block of another type', pem.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE')],
  ['C4 an empty block', '-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n'],
  ['C8 a second block', pem + pem],
  ['C9 text after the block', `${pem}hello`],
  ['text before the block', `hello\n${pem}`],
  ['headers in the block', pem.replace('-----\n', '-----\nA: b\n\n')],
  ['C12 a megabyte', pem + '\n'.repeat(1_000_000)],
  [
    'bytes after the end',
    encodePem(
      'CERTIFICATE REQUEST',
      Buffer.concat([Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64'), Buffer.alloc(2)]),
    ),
  ],
  ['nothing', ''],
] as const)
  test(`${what} is malformed`, () => assert.equal(read(text).problem?.code, 'Malformed'))

test('C6: a request whose signature does not verify is refused', () => {
  const der = Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64')
  der[der.length - 1] = (der.at(-1) ?? 0) ^ 1
  assert.equal(read(encodePem('CERTIFICATE REQUEST', der)).problem?.code, 'BadSignature')
})

const corpus = new URL('../../x509/testdata/csr-corpus/', import.meta.url)

/** Facts in which the Node lists whatever the request asks for, so nothing but its form can be wrong. */
function factsOf(file: string) {
  const text = encodePem('CERTIFICATE REQUEST', readFileSync(new URL(file, corpus)))
  const { csr, policy } = servingFacts({ spec: { request: Buffer.from(text).toString('base64') } })
  const reading = readRequest(csr)
  const name = (reading.request && subjectNode(reading.request)) ?? 'none'
  const { dnsNames = [], ipAddresses = [] } = reading.request?.subjectAltName ?? {}
  const addresses = [...dnsNames, ...ipAddresses.map(formatIp)]
  const node = nodeNamed(name, Object.fromEntries(addresses.map(text => [text, 'Hostname'])))
  const username = `system:node:${name}`
  const claims = new AddressIndex()
  claims.set(node)
  return { csr: { ...csr, spec: { ...csr.spec, username } }, reading, now: 0, node, claims, policy }
}

/** Crafted requests by case, with the outcome where a node asks. */
const crafted = [
  ['B14 two CNs', '10-two-CN', 'SubjectMismatch'],
  ['F12 an address of five bytes', '21-san-ip-5bytes', 'Malformed'],
  ['F12 an address of eight bytes', '22-san-ip-8bytes-cidr', 'Malformed'],
  ['G6 two SAN extensions', '29-san-two-extensions', 'Malformed'],
  ['G6 two extensionRequest attributes', '30-two-extReq-attrs', 'Malformed'],
  ['G6 an extensionRequest with two values', '37-extReq-2-values', 'Malformed'],
  ['G7 bytes after the SAN', '51-san-trailing-in-ext', 'Malformed'],
  ['G9 an unknown critical extension', '35-unknown-critical-ext', 'ForbiddenExtension'],
  ['G10 CA:TRUE', '36-basicConstraints-CA-true', 'ForbiddenExtension'],
  ['G5 otherName, directoryName, registeredID', '39-san-othername-dirname-rid', 'ForbiddenSanType'],
  ['G4 an empty SAN', '26-san-empty-seq', 'InvalidSan'],
  ['H1 a P-224 key', '52-p224-key', 'WeakKey'],
  ['H2 a 1024-bit RSA key', '57-rsa1024', 'WeakKey'],
  ['H3 ECDSA with SHA-1', '48-sha1', 'WeakKey'],
  ['C6 a signature that does not verify', '41-bad-signature', 'BadSignature'],
] as const
for (const [title, file, code] of crafted)
  test(`${title}: Deny ${code}`, () => {
    const facts = factsOf(`${file}.der`)
    const spec = { ...facts.csr.spec, username: 'system:node:n1' }
    expectVerdict({ ...facts, csr: { ...facts.csr, spec } }, 'Deny', code)
  })

test('of 51 crafted requests only those that every parser reads alike are approved', () => {
  const files = readdirSync(corpus).filter(file => file.endsWith('.der'))
  const approved = files.filter(file => judge(factsOf(file)).outcome === 'Approve')
  assert.equal(files.length, 51)
  assert.deepEqual(approved, [
    '00-good.der',
    '01-subject-utf8string.der',
    '20-san-ipv6.der',
    '23-san-critical-true.der',
    '24-san-critical-false-explicit.der',
    '32-challengePassword.der',
    '33-unstructuredName+challenge-utf8.der',
    '54-ed25519.der',
    '56-p521-sha512.der',
  ])
})
