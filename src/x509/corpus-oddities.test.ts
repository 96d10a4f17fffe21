import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { parseCertificateRequest } from './request.ts'

const folder = new URL('testdata/csr-corpus/', import.meta.url)

/** What we find where Go finds nothing; requests that are not here have no oddity. */
const oddities: Record<string, string[]> = {
  '03-cn-teletex-latin1': ['string-type'],
  '04-cn-bmpstring': ['string-type'],
  '06-cn-with-NUL': ['control-character'],
  '07-multivalued-rdn-O+CN': ['multi-valued-rdn'],
  '10-two-CN': ['two-common-names'],
  '26-san-empty-seq': ['san-empty'],
  '28-san-dns-nul': ['control-character', 'dns-name-syntax'],
  '31-msExtReq-oid': ['microsoft-extension-request'],
  '34-unknown-attr': ['unknown-attribute'],
  '35-unknown-critical-ext': ['unknown-critical-extension'],
  '36-basicConstraints-CA-true': ['ca-requested'],
  '37-extReq-2-values': ['extension-request-values'],
  '39-san-othername-dirname-rid': ['san-other-name'],
  '42-version-1': ['version-not-zero'],
  '46-alg-ecdsa-with-null-params': ['signature-parameters'],
  '48-sha1': ['signature-sha1'],
  '51-san-trailing-in-ext': ['san-trailing-bytes'],
  '52-p224-key': ['weak-key'],
  '55-rsa-pss': ['signature-algorithm'],
  '57-rsa1024': ['weak-key'],
}

/** Where the refusal of a malformed request points to. */
const refusals: Record<string, RegExp> = {
  '02-cn-invalid-utf8': /malformed subject at byte 46: invalid character in a utf8String/,
  '05-cn-printable-badchar-@_': /malformed subject at byte 46: invalid character in a printableString/,
  '21-san-ip-5bytes': /malformed SAN iPAddress at byte 4: 5 bytes, must be 4 or 16/,
  '22-san-ip-8bytes-cidr': /malformed SAN iPAddress at byte 4: 8 bytes, must be 4 or 16/,
  '25-san-critical-0x01': /malformed extension at byte 179: invalid boolean/,
  '27-san-dns-nonascii': /malformed SAN dNSName at byte 4: not 7-bit ASCII/,
  '29-san-two-extensions': /duplicate requested extensions \(2\.5\.29\.17\)/,
  '30-two-extReq-attrs': /duplicate requested extensions \(2\.5\.29\.17\)/,
  '40-trailing-bytes': /malformed certificate request at byte 277: 2 trailing bytes/,
  '43-no-attributes-field': /malformed attributes at byte 150: expected tag 0xa0, found the end/,
  '49-ber-nonminimal-length': /at byte 0: length is not minimally encoded/,
  '50-ber-indefinite': /at byte 0: indefinite length/,
  '53-secp256k1-key': /malformed public key at byte 80: unsupported elliptic curve/,
}

for (const file of readdirSync(folder).filter(file => file.endsWith('.der'))) {
  const name = file.slice(0, -'.der'.length)
  const der = new Uint8Array(readFileSync(new URL(file, folder)))
  const refusal = refusals[name]
  if (refusal) {
    test(`${name} is refused where it is wrong`, () => {
      const expected = (error: unknown) => hasCode(error, 'X509_MALFORMED') && refusal.test(error.message)
      assert.throws(() => parseCertificateRequest(der), expected)
    })
  } else {
    test(`${name} has ${oddities[name]?.join(' and ') ?? 'no oddity'}`, () => {
      const codes = parseCertificateRequest(der).oddities.map(({ code }) => code)
      assert.deepEqual([...new Set(codes)], oddities[name] ?? [])
    })
  }
}
