import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { encode, encodeSequence } from './der-write.ts'
import { parseIp } from './ip.ts'
import { oddityNotes } from './oddity.ts'
import { emptySubjectAltName, encodeSubjectAltName, isDnsName, parseSubjectAltName } from './san.ts'
import { isUriOfGo } from './uri.ts'

const san = (tag: number, value: string | Uint8Array) => encodeSequence(encode(tag, Buffer.from(value)))

function oddityCodes(value: Uint8Array): string[] {
  const { oddities, note } = oddityNotes()
  parseSubjectAltName(value, note)
  return oddities.map(({ code }) => code)
}

test('names survive a round trip', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6()).map(text => parseIp(text) ?? new Uint8Array(4))
  const domain = fc.domain()
  fc.assert(
    fc.property(
      fc.array(domain),
      fc.array(address),
      fc.array(fc.emailAddress()),
      fc.array(domain),
      (dnsNames, ips, emailAddresses, hosts) => {
        const ipAddresses = ips.filter(ip => ip.length === 4 || ip[10] !== 0xff)
        const names = {
          dnsNames,
          ipAddresses,
          emailAddresses,
          uris: hosts.map(host => `spiffe://${host}/ns/a`),
          others: [],
        }
        assert.deepEqual(parseSubjectAltName(encodeSubjectAltName(names)), names)
      },
    ),
  )
})

test('an IPv4-mapped address is written with 4 bytes', () => {
  const mapped = parseIp('::ffff:10.0.0.1')
  assert.ok(mapped)
  assert.deepEqual(parseSubjectAltName(encodeSubjectAltName({ ipAddresses: [mapped] })).ipAddresses, [
    Uint8Array.of(10, 0, 0, 1),
  ])
})

test('what no certificate can carry is not written', () => {
  for (const wrong of [
    { dnsNames: ['n\u00f6de'] },
    { uris: ['\u0141'] },
    { emailAddresses: ['\u0161@a'] },
    { ipAddresses: [new Uint8Array(5)] },
  ]) {
    assert.throws(() => encodeSubjectAltName(wrong), RangeError)
  }
})

test('what Go refuses is refused', () => {
  const values: Record<string, Uint8Array> = {
    'an IP address of 5 bytes': san(0x87, new Uint8Array(5)),
    'an IP address of 8 bytes': san(0x87, new Uint8Array(8)),
    'an empty IP address': san(0x87, ''),
    'a DNS name that is not ASCII': san(0x82, 'nöde'),
    'an e-mail address that is not ASCII': san(0x81, 'ö@a'),
    'a URI with a space in its host': san(0x86, 'http://a b/'),
    'no sequence': encode(0x31),
    'a name cut off': encodeSequence(Uint8Array.of(0x82, 5, 0x61)),
  }
  for (const [what, value] of Object.entries(values)) {
    assert.throws(
      () => parseSubjectAltName(value),
      error => hasCode(error, 'X509_MALFORMED'),
      what,
    )
  }
})

test('what Go drops or takes as it stands is noted', () => {
  assert.deepEqual(oddityCodes(san(0x82, 'worker-1.example.com')), [])
  assert.deepEqual(oddityCodes(encodeSequence()), ['san-empty'])
  assert.deepEqual(oddityCodes(Buffer.concat([san(0x82, 'a'), Uint8Array.of(0)])), ['san-trailing-bytes'])
  for (const tag of [0xa0, 0xa3, 0xa4, 0xa5, 0x88, 0xa2, 0x02, 0x89])
    assert.deepEqual(oddityCodes(san(tag, '')), ['san-other-name'])
  for (const name of [
    '',
    'worker-1.',
    '*.x',
    '*',
    '10.0.0.11',
    'a b',
    '-a',
    'a-',
    'a_b',
    `${'a'.repeat(64)}`,
    '.a',
    'a..b',
  ]) {
    assert.deepEqual(oddityCodes(san(0x82, name)), ['dns-name-syntax'], name)
  }
  assert.deepEqual(oddityCodes(san(0x82, 'a\0b')), ['control-character', 'dns-name-syntax'])
  assert.deepEqual(parseSubjectAltName(san(0xa4, '')), { ...emptySubjectAltName(), others: [4] })
})

test('a DNS name may have a wildcard as its first label and 253 characters', () => {
  assert.ok(isDnsName('*.example.com'))
  assert.ok(isDnsName('1a.2b'))
  assert.ok(!isDnsName('a.*.b'))
  assert.ok(isDnsName(Array.from({ length: 127 }, () => 'a').join('.')))
  assert.ok(!isDnsName(Array.from({ length: 128 }, () => 'a').join('.')))
})

const uris = [
  'spiffe://x/y',
  'http://a.b/c?d=%zz',
  'urn:a:b',
  'mailto:a@b',
  'http://u:p@h:80/',
  '/a/b',
  'a/b:c',
  '',
  '*',
  'file:///x',
  'x:#%20',
]
const notUris = [
  ':a',
  'a b:c',
  '1:2',
  'http://a b/',
  'http://h/%zz',
  'http://h#%z',
  'http://h:8a/',
  'http://a^b/',
  'http://[::1]/',
  'http://a..b/',
  'http://h%41/',
  'a\u0001',
  'http://h.',
]

test("URIs are read by Go's rules", () => {
  for (const uri of uris) assert.ok(isUriOfGo(uri), uri)
  for (const uri of notUris) assert.ok(!isUriOfGo(uri), uri)
})
