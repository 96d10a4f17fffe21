import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { openssl } from '../testing/openssl.ts'
import { tags } from './der.ts'
import { encode, encodeOid, encodeSequence } from './der-write.ts'
import {
  commonName,
  commonNames,
  encodeName,
  formatName,
  nameOf,
  organizations,
  parseName,
  rebuiltRdns,
} from './name.ts'
import { oids } from './oid.ts'

const nameWith = (type: string, valueTag: number, value: Uint8Array | string) =>
  encodeSequence(encode(tags.set, encodeSequence(encodeOid(type), encode(valueTag, Buffer.from(value)))))

test("a node's name is encoded byte for byte as client-go encodes it", () => {
  const name = nameOf({ commonName: 'system:node:master-1', organizations: ['system:nodes'] })
  assert.equal(commonName(name), 'system:node:master-1')
  assert.deepEqual(organizations(name), ['system:nodes'])
  const organization = '3115301306035504' + '0a130c73797374656d3a6e6f646573'
  const common = '311d301b06035504' + '03131473797374656d3a6e6f64653a6d61737465722d31'
  assert.equal(Buffer.from(name.raw).toString('hex'), `3036${organization}${common}`)
})

test('several organizations are one SET, sorted; a name without organization has none', () => {
  assert.deepEqual(nameOf({ commonName: 'a', organizations: ['zz', 'b'] }).rdns, [
    [
      { type: oids.organization, value: 'b' },
      { type: oids.organization, value: 'zz' },
    ],
    [{ type: oids.commonName, value: 'a' }],
  ])
  assert.deepEqual(nameOf({ commonName: 'a' }).rdns, [[{ type: oids.commonName, value: 'a' }]])
})

test("names print as Go's pkix.Name does", () => {
  const cases: [{ type: string; value: string }[][], string][] = [
    [[], ''],
    [
      [
        [{ type: oids.organization, value: 'system:nodes' }],
        [{ type: oids.commonName, value: 'system:node:a' }],
      ],
      'CN=system:node:a,O=system:nodes',
    ],
    // Go keeps the last common name, groups values of a type and writes types it knows in its own order.
    [
      [
        [{ type: oids.commonName, value: 'a' }],
        [{ type: oids.commonName, value: 'b' }],
        [{ type: oids.country, value: 'DE' }],
      ],
      'CN=b,C=DE',
    ],
    [[[{ type: oids.commonName, value: ' #a,b+c"d\\e<f>g; ' }]], 'CN=\\ #a\\,b\\+c\\"d\\\\e\\<f\\>g\\;\\ '],
    [[[{ type: oids.commonName, value: '#' }]], 'CN=\\#'],
    [
      [[{ type: oids.kubernetesUid, value: 'client_id' }], [{ type: oids.commonName, value: 'c' }]],
      'CN=c,1.3.6.1.4.1.57683.2=#0c09636c69656e745f6964',
    ],
    [[[{ type: '1.2.3', value: 'x' }], [{ type: '1.2.4', value: 'y' }]], '1.2.4=#130179,1.2.3=#130178'],
  ]
  for (const [rdns, text] of cases) assert.equal(formatName(parseName(encodeName(rdns))), text)
})

test('the signer keeps known attribute types in their order and drops the others (C-36)', () => {
  const name = parseName(
    encodeName([
      [{ type: oids.serialNumber, value: '1' }],
      [{ type: oids.commonName, value: 'a' }],
      [{ type: oids.kubernetesUid, value: 'x' }],
      [{ type: oids.organization, value: 'o1' }],
      [{ type: oids.organization, value: 'o2' }],
    ]),
  )
  assert.deepEqual(
    rebuiltRdns(name).map(rdn => rdn.map(({ value }) => value)),
    [['o1', 'o2'], ['a'], ['1']],
  )
})

test('strings must fit their type', () => {
  const refusedValues: [number, Uint8Array | string][] = [
    [tags.utf8String, Uint8Array.of(0xff)],
    [tags.utf8String, Uint8Array.of(0xed, 0xa0, 0x80)],
    [tags.utf8String, Uint8Array.of(0xc0, 0x80)],
    [tags.printableString, 'a_b'],
    [tags.printableString, 'a@b'],
    [tags.numericString, '1a'],
    [tags.ia5String, Uint8Array.of(0x80)],
    [tags.bmpString, Uint8Array.of(0x00)],
    [tags.bmpString, Uint8Array.of(0xd8, 0x00)],
    [tags.bmpString, Uint8Array.of(0xff, 0xff)],
    [tags.integer, Uint8Array.of(5)],
    [0x1a, 'VisibleString'],
  ]
  for (const [tag, value] of refusedValues) {
    const refused = (error: unknown) => hasCode(error, 'X509_MALFORMED')
    assert.throws(() => parseName(nameWith(oids.commonName, tag, value)), refused, `tag ${tag}`)
  }
})

test('the old string types are turned into text as Go does', () => {
  const value = (tag: number, bytes: Uint8Array | string) =>
    commonNames(parseName(nameWith(oids.commonName, tag, bytes)))
  assert.deepEqual(value(tags.t61String, Uint8Array.of(0x6e, 0xe9)), ['né'])
  assert.deepEqual(value(tags.bmpString, Uint8Array.of(0x00, 0x6e, 0x20, 0xac)), ['n€'])
  assert.deepEqual(value(tags.bmpString, Uint8Array.of(0x00, 0x6e, 0x00, 0x00)), ['n'])
  assert.deepEqual(value(tags.printableString, '*.a&b'), ['*.a&b'])
  assert.deepEqual(value(tags.utf8String, '\ufeffa'), ['\ufeffa'])
})

test('any name survives a round trip, and openssl reads the same values', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter(value => value.isWellFormed())
  const attribute = fc.record(
    {
      type: fc.constantFrom<string>(oids.commonName, oids.organization, oids.country, '1.2.3.4'),
      value: text,
    },
    { noNullPrototype: true },
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(attribute), { maxLength: 5 }), rdns => {
      assert.deepEqual(parseName(encodeName(rdns)).rdns, rdns)
    }),
  )
  const { text: printed } = openssl(
    ['asn1parse', '-inform', 'DER'],
    nameOf({ commonName: 'nöde', organizations: ['o'] }).raw,
  )
  assert.match(printed, /UTF8STRING\s+:nöde/)
  assert.match(printed, /PRINTABLESTRING\s+:o/)
})
