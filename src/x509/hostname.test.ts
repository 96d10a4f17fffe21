import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../keys/private-key.ts'
import { issueCertificate, selfSignedCa } from '../keys/self-signed.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { type Certificate, parseCertificatesPem } from './certificate.ts'
import { verifyHostname } from './hostname.ts'
import { parseIp } from './ip.ts'
import { nameOf } from './name.ts'
import type { SubjectAltName } from './san.ts'

const random = seededRandom(1)
const signer = generateSigner('Ed25519', random)
const times = { notBefore: Date.UTC(2030, 0), notAfter: Date.UTC(2031, 0) }
const [ca] = parseCertificatesPem(
  await selfSignedCa({ commonName: 'kube ca', signer, random, ...times }),
) as [Certificate]

async function certificateFor(
  subjectAltName: Partial<SubjectAltName>,
  commonName = 'system:node:n1',
): Promise<Certificate> {
  const pem = await issueCertificate({
    ca: { certificate: ca, signer },
    subject: nameOf({ commonName }),
    spki: signer.publicKey,
    random,
    ...times,
    extensions: { subjectAltName },
  })
  const [certificate] = parseCertificatesPem(pem)
  assert.ok(certificate)
  return certificate
}

const ips = (...texts: string[]) => ({ ipAddresses: texts.map(text => parseIp(text) ?? new Uint8Array(4)) })
const dns = (...dnsNames: string[]) => ({ dnsNames })

const good: [string, Partial<SubjectAltName>, string[]][] = [
  [
    'an address, however it is written',
    ips('10.0.0.1', 'fd00::1'),
    ['10.0.0.1', '::ffff:10.0.0.1', 'fd00:0::1', '[fd00::1]', '[10.0.0.1]'],
  ],
  [
    'a name in any case and with a final dot',
    dns('Worker-1.Example.com'),
    ['worker-1.example.com', 'WORKER-1.EXAMPLE.COM.'],
  ],
  ['a wildcard for one label', dns('*.example.com'), ['a.example.com', '*.example.com']],
  ['a name with an underscore', dns('_a.b_c'), ['_a.b_c']],
  ['a name that is none, exactly', dns('a b', 'worker-1.'), ['a b', 'worker-1.']],
]

for (const [what, san, hosts] of good) {
  test(`it fits: ${what}`, async () => {
    const certificate = await certificateFor(san)
    for (const host of hosts) assert.deepEqual(verifyHostname(certificate, host), { ok: true }, host)
  })
}

const bad: [string, Partial<SubjectAltName>, string, string][] = [
  [
    'no address at all (H-6)',
    dns('n1'),
    '10.0.0.1',
    "x509: cannot validate certificate for 10.0.0.1 because it doesn't contain any IP SANs",
  ],
  [
    'another address',
    ips('10.0.0.1', '::1'),
    '10.0.0.2',
    'x509: certificate is valid for 10.0.0.1, ::1, not 10.0.0.2',
  ],
  ['brackets are left out of the reason', ips('::1'), '[::2]', 'x509: certificate is valid for ::1, not ::2'],
  ['another name', dns('a', 'b.c'), 'c', 'x509: certificate is valid for a, b.c, not c'],
  [
    'a name where only addresses are',
    ips('10.0.0.1'),
    'c',
    'x509: certificate is not valid for any names, but wanted to match c',
  ],
  [
    'an address as a DNS name',
    dns('10.0.0.11'),
    '10.0.0.11',
    "x509: cannot validate certificate for 10.0.0.11 because it doesn't contain any IP SANs",
  ],
  [
    'a SAN with a final dot',
    dns('worker-1.'),
    'worker-1',
    'x509: certificate is valid for worker-1., not worker-1',
  ],
  ['a bare wildcard', dns('*'), 'a', 'x509: certificate is valid for *, not a'],
  ['a wildcard for two labels', dns('*.x'), 'a.b.x', 'x509: certificate is valid for *.x, not a.b.x'],
  ['a wildcard for none', dns('*.x'), 'x', 'x509: certificate is valid for *.x, not x'],
  ['a wildcard inside', dns('a.*.x'), 'a.b.x', 'x509: certificate is valid for a.*.x, not a.b.x'],
  ['an empty name', dns(''), '', 'x509: certificate is not valid for any names, but wanted to match '],
  ['a NUL', dns('a\0b'), 'a', 'x509: certificate is valid for a\0b, not a'],
]

for (const [what, san, host, reason] of bad) {
  test(`it does not fit: ${what}`, async () => {
    assert.deepEqual(verifyHostname(await certificateFor(san), host), { ok: false, reason })
  })
}

test('the common name never counts', async () => {
  const reason = 'x509: certificate relies on legacy Common Name field, use SANs instead'
  assert.deepEqual(verifyHostname(await certificateFor({}, 'n1'), 'n1'), { ok: false, reason })
})

test('many names are counted instead of listed', async () => {
  const many = await certificateFor(dns(...Array.from({ length: 100 }, (_, i) => `n${i}`)))
  const reason = 'x509: certificate is valid for 100 names, but none matched x'
  assert.deepEqual(verifyHostname(many, 'x'), { ok: false, reason })
})
