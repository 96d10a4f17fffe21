import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import 'reflect-metadata'
import { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from '@peculiar/x509'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { parseIp } from './ip.ts'
import { commonNames, organizations } from './name.ts'
import { oids } from './oid.ts'
import { type CertificateRequest, parseCertificateRequest } from './request.ts'

const corpus = ['00-good', '01-subject-utf8string', '20-san-ipv6', '10-two-CN', '29-san-two-extensions'].map(
  name => new Uint8Array(readFileSync(new URL(`testdata/csr-corpus/${name}.der`, import.meta.url))),
)

interface Identity {
  commonNames: string[]
  organizations: string[]
  dnsNames: string[]
  /** Lower-case hexadecimal. */
  ipAddresses: string[]
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

function ours({ subject, subjectAltName }: CertificateRequest): Identity {
  return {
    commonNames: commonNames(subject),
    organizations: organizations(subject),
    dnsNames: subjectAltName.dnsNames,
    ipAddresses: subjectAltName.ipAddresses.map(hex),
  }
}

/** What another parser, which shares no line with ours, sees in the same bytes; undefined where it refuses them. */
function theirs(der: Uint8Array): Identity | undefined {
  try {
    return identityOf(new Pkcs10CertificateRequest(new Uint8Array(der)))
  } catch {
    return undefined // it looks into attributes that Kubernetes ignores, such as challengePassword
  }
}

function identityOf(request: Pkcs10CertificateRequest): Identity {
  const extension = request.getExtension(oids.subjectAltName)
  const names = extension ? new SubjectAlternativeNameExtension(extension.rawData).names.items : []
  const ofType = (wanted: string) => names.filter(({ type }) => type === wanted).map(({ value }) => value)
  return {
    commonNames: request.subjectName.getField('CN'),
    organizations: request.subjectName.getField('O'),
    dnsNames: ofType('dns'),
    ipAddresses: ofType('ip').map(text => hex(parseIp(text) ?? new Uint8Array())),
  }
}

function withoutOddity(der: Uint8Array): CertificateRequest | undefined {
  try {
    const request = parseCertificateRequest(der)
    return request.oddities.length === 0 ? request : undefined
  } catch (error) {
    assert.ok(hasCode(error, 'X509_MALFORMED'))
    return undefined
  }
}

test('two parsers see the same identity in a request that is neither refused nor odd', () => {
  const position = fc.integer({ min: 0, max: 400 })
  const change = fc.tuple(
    position,
    fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0x0c, 0x13, 0x16, 0x82, 0x87)),
  )
  let compared = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...corpus),
      fc.array(change, { minLength: 1, maxLength: 2 }),
      (der, changes) => {
        const bytes = der.map((octet, i) => changes.findLast(([at]) => at === i)?.[1] ?? octet)
        const request = withoutOddity(bytes)
        if (request === undefined) return
        const other = theirs(bytes)
        if (other === undefined) return
        compared++
        assert.deepEqual(ours(request), other)
      },
    ),
    { numRuns: 2000 },
  )
  assert.ok(compared > 100, `only ${compared} requests compared`)
})
