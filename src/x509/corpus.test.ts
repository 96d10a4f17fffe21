import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { formatIp } from './ip.ts'
import { commonName, organizations } from './name.ts'
import { type CertificateRequest, parseCertificateRequest, requestSignatureIsValid } from './request.ts'

const folder = new URL('testdata/csr-corpus/', import.meta.url)
const verdicts: Record<string, string> = JSON.parse(readFileSync(new URL('go-verdicts.json', folder), 'utf8'))
const load = (name: string) => new Uint8Array(readFileSync(new URL(`${name}.der`, folder)))

/** Our verdict in the words of go-verdicts.json, reduced to what Go's error texts have in common with ours. */
function verdict(der: Uint8Array): string {
  let request: CertificateRequest
  try {
    request = parseCertificateRequest(der)
  } catch (error) {
    assert.ok(hasCode(error, 'X509_MALFORMED'), String(error))
    return 'REJECT parse'
  }
  if (!requestSignatureIsValid(request)) return 'REJECT sig'
  const { subject, subjectAltName: san } = request
  const names = `CN=${goQuote(commonName(subject))} O=[${organizations(subject).map(goQuote).join(' ')}]`
  const sans = `dns=[${san.dnsNames.map(goQuote).join(' ')}] ip=[${san.ipAddresses.map(formatIp).join(' ')}]`
  return `${names} ${sans} uri=[${san.uris.join(' ')}] email=[${san.emailAddresses.join(' ')}] exts=${request.extensions.length}`
}

/** The verdicts were printed with Go's %q. */
function goQuote(text: string): string {
  return JSON.stringify(text).replace(/\\u00([0-9a-f]{2})/g, '\\x$1')
}

test('every request of the corpus has a verdict of Go', () => {
  const files = readdirSync(folder).filter(name => name.endsWith('.der'))
  assert.deepEqual(files.map(name => name.slice(0, -'.der'.length)).sort(), Object.keys(verdicts).sort())
  assert.ok(files.length >= 51)
})

for (const [name, go] of Object.entries(verdicts)) {
  test(`${name} is read as Go reads it`, () => {
    assert.equal(verdict(load(name)), go.replace(/^(REJECT \w+):.*/, '$1'))
  })
}
