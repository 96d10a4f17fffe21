import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { encode, encodeSequence } from './der-write.ts'
import { parseIp } from './ip.ts'
import { hasUnhandledKinds, parseNameConstraints, whyNotPermitted } from './name-constraints.ts'
import { emptySubjectAltName } from './san.ts'

const subtree = (tag: number, value: string | Uint8Array) => encodeSequence(encode(tag, Buffer.from(value)))
const dns = (name: string) => subtree(0x82, name)
const range = (address: string, mask: string) =>
  subtree(
    0x87,
    Buffer.concat([parseIp(address) ?? [], parseIp(mask) ?? []].map(part => Uint8Array.from(part))),
  )

function constraints(permitted: Uint8Array[], excluded: Uint8Array[] = []): Uint8Array {
  const lists = [permitted, excluded].map((list, tag) =>
    list.length === 0 ? [] : [encode(0xa0 | tag, ...list)],
  )
  return encodeSequence(...lists.flat())
}

function why(
  value: Uint8Array,
  names: { dns?: string[]; ip?: string[]; email?: string[]; uri?: string[] },
): string | undefined {
  const san = {
    ...emptySubjectAltName(),
    dnsNames: names.dns ?? [],
    ipAddresses: (names.ip ?? []).map(text => parseIp(text) ?? new Uint8Array(4)),
    emailAddresses: names.email ?? [],
    uris: names.uri ?? [],
  }
  return whyNotPermitted(parseNameConstraints(value), san)?.replace(
    /^x509: a root or intermediate .* for this name: /,
    '',
  )
}

test('a DNS name must lie in a permitted subtree', () => {
  const nodes = constraints([dns('nodes.example.com'), dns('.below.example.com')])
  for (const name of [
    'nodes.example.com',
    'N1.Nodes.example.COM',
    'a.below.example.com',
    '*.nodes.example.com',
  ])
    assert.equal(why(nodes, { dns: [name] }), undefined, name)
  for (const name of ['example.com', 'xnodes.example.com', 'below.example.com']) {
    assert.equal(why(nodes, { dns: [name] }), `DNS name "${name}" is not permitted by any constraint`)
  }
  assert.equal(why(nodes, { dns: ['nodes.example.com.'] }), 'cannot parse dnsName "nodes.example.com."')
  assert.equal(why(nodes, { ip: ['10.0.0.1'], email: ['a@b'] }), undefined)
})

test('an excluded subtree wins, also over a wildcard that could stand for one in it', () => {
  const but = constraints([dns('example.com')], [dns('secret.example.com')])
  assert.equal(why(but, { dns: ['a.example.com'] }), undefined)
  for (const name of ['secret.example.com', 'a.secret.example.com', '*.example.com']) {
    assert.equal(
      why(but, { dns: ['a.example.com', name] }),
      `DNS name "${name}" is excluded by constraint "secret.example.com"`,
    )
  }
  assert.match(why(constraints([], [dns('')]), { dns: ['a'] }) ?? '', /is excluded by constraint ""/)
})

test('an address must lie in a permitted range of its own family', () => {
  const ten = constraints([range('10.0.0.0', '255.0.0.0')], [range('10.1.0.0', '255.255.0.0')])
  assert.equal(why(ten, { ip: ['10.2.3.4'] }), undefined)
  assert.equal(why(ten, { ip: ['10.1.3.4'] }), 'IP address 10.1.3.4 is excluded by a constraint')
  assert.equal(why(ten, { ip: ['11.0.0.1'] }), 'IP address 11.0.0.1 is not permitted by any constraint')
  assert.equal(why(ten, { ip: ['fd00::1'] }), 'IP address fd00::1 is not permitted by any constraint')
})

test('kinds nodes do not use are refused where they are constrained and present', () => {
  const mail = constraints([subtree(0x81, 'example.com'), subtree(0x86, 'example.com')])
  assert.equal(why(mail, { dns: ['a'] }), undefined)
  assert.match(why(mail, { email: ['a@example.com'] }) ?? '', /not supported/)
  assert.match(why(mail, { uri: ['spiffe://example.com/a'] }) ?? '', /not supported/)
  assert.equal(hasUnhandledKinds(parseNameConstraints(mail)), false)
  assert.equal(hasUnhandledKinds(parseNameConstraints(constraints([subtree(0xa4, encodeSequence())]))), true)
})

test('malformed constraints are refused', () => {
  const wrong: Record<string, Uint8Array> = {
    'nothing constrained': encodeSequence(),
    'a mask with holes': constraints([range('10.0.0.0', '255.0.255.0')]),
    'an address without mask': constraints([subtree(0x87, new Uint8Array(4))]),
    'a DNS name that is none': constraints([dns('a b')]),
    'a DNS name that is not ASCII': constraints([dns('ö')]),
    'bytes after it': Buffer.concat([constraints([dns('a')]), Uint8Array.of(0)]),
  }
  for (const [what, value] of Object.entries(wrong)) {
    assert.throws(
      () => parseNameConstraints(value),
      error => hasCode(error, 'X509_MALFORMED'),
      what,
    )
  }
})
