import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode, RollcallError } from '../errors.ts'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { keyMatches } from '../keys/private-key.ts'
import { createClient, isStatus } from '../kube/client.ts'
import type { Transport } from '../kube/transport.ts'
import type { CertificateSigningRequest, CsrCondition } from '../kube/types.ts'
import { collectionServer } from '../testing/collection-server.ts'
import { json, refusal } from '../testing/in-memory-transport.ts'
import { createManualClock, settle } from '../testing/manual-clock.ts'
import { createTestAuthority } from '../testing/test-authority.ts'
import { type Certificate, parseCertificatesPem } from '../x509/certificate.ts'
import { formatIp } from '../x509/ip.ts'
import { formatName } from '../x509/name.ts'
import { decodeOnePem } from '../x509/pem.ts'
import { parseCertificateRequest, requestSignatureIsValid } from '../x509/request.ts'
import { requestCertificate } from './request-certificate.ts'
import { type CertificateTemplate, clientTemplate } from './template.ts'

const start = Date.parse('2026-05-01T00:00:00Z')
const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const approved: CsrCondition = { type: 'Approved', status: 'True', reason: 'AutoApproved' }
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** An API with one collection of requests, and the test as approver and signer. */
function desk() {
  const clock = createManualClock(start)
  const random = new SeededRandom('desk')
  const server = collectionServer(path)
  const bodies: CertificateSigningRequest[] = []
  /** What creation answers instead; the request is stored nevertheless. */
  let lost = false
  let unauthorized = false
  const transport: Transport = {
    async request(request) {
      if (unauthorized) return refusal(401, 'Unauthorized')
      if (request.method !== 'POST') return server.request(request)
      const body = JSON.parse(new TextDecoder().decode(request.body)) as CertificateSigningRequest
      bodies.push(body)
      const name = `${body.metadata.generateName}${bodies.length}`
      put(name, { spec: body.spec })
      if (lost) throw new RollcallError('API_UNREACHABLE', 'connection reset')
      return json(
        201,
        server.objects().find(object => object.metadata.name === name),
      )
    },
    closeConnections() {},
  }
  function put(name: string, fields: object) {
    server.put(name, { kind: 'CertificateSigningRequest', ...fields })
  }
  const ask = (template: CertificateTemplate = clientTemplate('node-a', 'Ed25519'), signal?: AbortSignal) => {
    const client = createClient(transport)
    const options = { template, keyAlgorithm: 'Ed25519' as const, client, clock, random }
    const promise = requestCertificate({ ...options, ...(signal && { signal }) })
    promise.catch(() => {}) // looked at later
    return promise
  }
  const answer = async (status: CertificateSigningRequest['status']) => {
    const spec = bodies.at(-1)?.spec
    put('csr-1', { spec, status })
    await settle()
  }
  const issued = async () => {
    const authority = await createTestAuthority(random)
    const der = decodeOnePem(
      Buffer.from(bodies.at(-1)?.spec.request ?? '', 'base64').toString(),
      'CERTIFICATE REQUEST',
    )
    const lifetime = { notBefore: start, notAfter: start + 86_400_000 }
    return authority.sign(clientTemplate('node-a', 'Ed25519'), parseCertificateRequest(der).spki, lifetime)
  }
  return {
    clock,
    server,
    bodies,
    ask,
    answer,
    issued,
    loseAnswers: (value: boolean) => (lost = value),
    refuse: () => (unauthorized = true),
  }
}

test('K-36, K-37: the request has a generated name, the usages and signer of the template, and no lifetime', async () => {
  const { ask, bodies, answer } = desk()
  const waiting = ask()
  await settle()
  const { request, ...spec } = bodies[0]?.spec ?? { request: '' }
  assert.equal(bodies[0]?.metadata.generateName, 'csr-')
  assert.deepEqual(spec, {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
  })
  const parsed = parseCertificateRequest(
    decodeOnePem(Buffer.from(request, 'base64').toString(), 'CERTIFICATE REQUEST'),
  )
  assert.ok(requestSignatureIsValid(parsed))
  assert.equal(formatName(parsed.subject), 'CN=system:node:node-a,O=system:nodes')
  assert.deepEqual([parsed.extensions, parsed.oddities], [[], []])
  await answer({ conditions: [{ type: 'Denied', status: 'True' }] })
  await assert.rejects(waiting)
})

test('K-75: a serving request carries the names and addresses of its template', async () => {
  const { ask, bodies, answer } = desk()
  const template = {
    ...clientTemplate('n', 'Ed25519'),
    dnsNames: ['n'],
    ipAddresses: ['10.0.0.1', '2001:db8::1'],
  }
  const waiting = ask(template)
  await settle()
  const pem = Buffer.from(bodies[0]?.spec.request ?? '', 'base64').toString()
  const { subjectAltName } = parseCertificateRequest(decodeOnePem(pem, 'CERTIFICATE REQUEST'))
  assert.deepEqual(subjectAltName.dnsNames, ['n'])
  assert.deepEqual(subjectAltName.ipAddresses.map(formatIp), ['10.0.0.1', '2001:db8::1'])
  await answer({ conditions: [{ type: 'Failed', status: 'True' }] })
  await assert.rejects(waiting)
})

test('K-40: approved and issued gives the chain with the key of this attempt', async () => {
  const { ask, answer, issued, clock } = desk()
  const waiting = ask()
  await settle()
  const chain = await issued()
  await answer({ conditions: [approved] })
  await answer({ conditions: [approved], certificate: base64(chain) })
  const { key, ...rest } = await waiting
  assert.deepEqual(rest, { chain, requestName: 'csr-1' })
  const [leaf] = parseCertificatesPem(chain) as [Certificate]
  assert.ok(keyMatches(key.signer, leaf))
  assert.equal(clock.pending(), 0)
})

test('K-40: a certificate without Approved is waited on', async () => {
  const { ask, answer, issued } = desk()
  const waiting = ask()
  await settle()
  const certificate = base64(await issued())
  await answer({ certificate })
  let done = false
  void waiting.then(() => (done = true))
  await settle()
  assert.equal(done, false)
  await answer({ certificate, conditions: [approved] })
  await waiting
})

test('K-40, K-41: Denied and Failed end the attempt with the reason and message given', async () => {
  for (const [type, code] of [
    ['Denied', 'CSR_DENIED'],
    ['Failed', 'CSR_FAILED'],
  ] as const) {
    const { ask, answer } = desk()
    const waiting = ask()
    await settle()
    // The type alone counts, not the status.
    await answer({ conditions: [{ type, status: 'False', reason: 'Policy', message: 'not that name' }] })
    await assert.rejects(
      waiting,
      error => hasCode(error, code) && /Policy: not that name/.test(error.message),
    )
  }
})

test('K-40: a request that is deleted, or replaced while nobody watched, ends the attempt', async () => {
  const { ask, server } = desk()
  const waiting = ask()
  await settle()
  server.remove('csr-1')
  await assert.rejects(waiting, error => hasCode(error, 'CSR_GONE') && /deleted/.test(error.message))

  const other = desk()
  const replaced = other.ask()
  await settle()
  other.server.fault = 'unreachable'
  other.server.disconnect()
  other.server.remove('csr-1')
  other.server.put('csr-1', { kind: 'CertificateSigningRequest' })
  other.server.fault = undefined
  other.server.compact()
  await other.clock.advance(10_000)
  await assert.rejects(replaced, error => hasCode(error, 'CSR_GONE') && /replaced/.test(error.message))
})

test('the wait outlives ended and broken watches, outages and a compacted history', async () => {
  const { ask, server, clock, answer, issued } = desk()
  const waiting = ask()
  await settle()
  await clock.advance(5000)
  server.endWatches()
  await clock.advance(5000)
  server.fault = 403
  server.disconnect()
  await clock.advance(60_000)
  server.fault = 'unreachable'
  await clock.advance(60_000)
  server.compact()
  server.fault = undefined
  await clock.advance(60_000)
  assert.equal(server.openWatches(), 1)
  server.freeze()
  const chain = await issued()
  await answer({ conditions: [approved], certificate: base64(chain) })
  await clock.advance(630_000)
  assert.equal((await waiting).chain, chain)
  assert.ok(server.requests.length < 40, `${server.requests.length} requests`)
})

test('K-36: after 15 minutes without an answer the attempt ends', async () => {
  const { ask, clock, server } = desk()
  const waiting = ask()
  await clock.advance(15 * 60_000)
  await assert.rejects(waiting, error => hasCode(error, 'CSR_TIMEOUT') && /within 900 s/.test(error.message))
  assert.equal(server.openWatches(), 0)
  assert.equal(clock.pending(), 0)
})

test('a signal ends the attempt at once', async () => {
  const { ask, clock, server } = desk()
  const abort = new AbortController()
  const waiting = ask(undefined, abort.signal)
  await settle()
  abort.abort()
  await assert.rejects(waiting, error => hasCode(error, 'CSR_TIMEOUT') && error.details.cancelled === true)
  assert.equal(server.openWatches(), 0)
  assert.equal(clock.pending(), 0)
})

test('a 401 while waiting ends the attempt: this credential will not see the answer', async () => {
  const { ask, refuse, server, clock } = desk()
  const waiting = ask()
  await settle()
  refuse()
  server.disconnect()
  await clock.advance(2000)
  await assert.rejects(waiting, error => isStatus(error, 'Unauthorized'))
})

test('when the answer to the creation is lost, the next attempt has another key', async () => {
  const { ask, bodies, loseAnswers } = desk()
  loseAnswers(true)
  await assert.rejects(ask(), error => hasCode(error, 'API_UNREACHABLE'))
  loseAnswers(false)
  const waiting = ask()
  await settle()
  const spkis = bodies.map(({ spec }) => {
    const pem = Buffer.from(spec.request, 'base64').toString()
    return Buffer.from(parseCertificateRequest(decodeOnePem(pem, 'CERTIFICATE REQUEST')).spki).toString('hex')
  })
  assert.equal(spkis.length, 2)
  assert.notEqual(spkis[0], spkis[1])
  void waiting
})

test('a certificate for another key, or one that does not parse, is refused', async () => {
  const other = await createTestAuthority(new SeededRandom('other'))
  const lifetime = { notBefore: start, notAfter: start + 86_400_000 }
  const foreign = await other.issue(clientTemplate('node-a', 'Ed25519'), lifetime)
  for (const [certificate, code] of [
    [foreign.chain, 'KEY_MISMATCH'],
    ['no certificate at all', 'X509_MALFORMED'],
    ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 'X509_MALFORMED'],
  ] as const) {
    const { ask, answer } = desk()
    const waiting = ask()
    await settle()
    await answer({ conditions: [approved], certificate: base64(certificate) })
    await assert.rejects(waiting, error => hasCode(error, code) && /"csr-1"/.test(error.message))
  }
})
