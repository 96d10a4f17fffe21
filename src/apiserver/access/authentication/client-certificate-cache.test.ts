import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientCa, issue, now } from '../testing/client-certificates.ts'
import { createClientCertificateAuthenticator } from './client-certificate-cache.ts'

test('The oldest of too many chains is forgotten and verified anew', async () => {
  const ca = await clientCa(1)
  const [a, b, c] = [
    [await issue(ca, { commonName: 'a' })],
    [await issue(ca, { commonName: 'b' })],
    [await issue(ca, { commonName: 'c' })],
  ]
  const authenticator = createClientCertificateAuthenticator(ca.pem, 2)
  const first = authenticator.authenticate(a, now)
  const second = authenticator.authenticate(b, now)
  assert.equal(authenticator.authenticate(a, now), first)
  authenticator.authenticate(c, now)
  assert.equal(authenticator.authenticate(b, now), second)
  const again = authenticator.authenticate(a, now)
  assert.notEqual(again, first)
  assert.deepEqual(again, first)
})

test('An empty chain is no credential', async () => {
  const authenticator = createClientCertificateAuthenticator((await clientCa(1)).pem)
  assert.deepEqual(authenticator.authenticate([], now), { outcome: 'none' })
  assert.deepEqual(authenticator.authenticate(undefined, now), { outcome: 'none' })
})
