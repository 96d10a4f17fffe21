import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CertificateSigningRequest, type KubeNode, signerNames } from '../kube/types.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { createTestAuthority } from '../testing/test-authority.ts'
import { NodeCertificates } from './metrics-certificates.ts'
import { ClockSkews } from './metrics-clock-skew.ts'

const now = Date.parse('2026-05-01T12:00:00Z')
const hour = 3_600_000
const day = 24 * hour
const nodes = new Set(['a'])

/** A request with a client certificate of node a, valid from and to so many milliseconds from now. */
async function issued(from: number, to: number): Promise<CertificateSigningRequest> {
  const authority = await createTestAuthority(seededRandom(1))
  const template = {
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
    dnsNames: [],
    ipAddresses: [],
    usages: ['client auth'],
    signerName: signerNames.kubeletClient,
  }
  const { chain } = await authority.issue(template, { notBefore: now + from, notAfter: now + to })
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr' },
    spec: { request: '', signerName: signerNames.kubeletClient, usages: [] },
    status: { certificate: Buffer.from(chain).toString('base64') },
  }
}

async function stateOf(from: number, to: number): Promise<string> {
  const certificates = new NodeCertificates()
  certificates.see(await issued(from, to))
  const { states } = certificates.numbers(nodes, now).client
  return Object.entries(states)
    .filter(([, count]) => count > 0)
    .map(([state]) => state)
    .join()
}

test('K-33: a certificate is overdue when 90 % of its life and the slack are over', async () => {
  // 90 % of 24 h are 21.6 h, and the slack is at least an hour, here 1.2 h.
  assert.equal(await stateOf(-22.7 * hour, 1.3 * hour), 'valid')
  assert.equal(await stateOf(-22.9 * hour, 1.1 * hour), 'overdue')
  assert.equal(await stateOf(-94 * day, 6 * day), 'valid')
  assert.equal(await stateOf(-96 * day, 4 * day), 'overdue')
})

test('expired, not yet valid and unknown are told apart', async () => {
  assert.equal(await stateOf(-24 * hour, -1000), 'expired')
  assert.equal(await stateOf(30_000, 24 * hour), 'valid')
  assert.equal(await stateOf(90_000, 24 * hour), 'not_yet_valid')
  const { states, earliestExpiry } = new NodeCertificates().numbers(nodes, now).client
  assert.deepEqual([states.unknown, earliestExpiry], [1, undefined])
})

test('the newest certificate counts, whatever order they are seen in, until the Node is deleted', async () => {
  const certificates = new NodeCertificates()
  certificates.see(await issued(-hour, 23 * hour))
  certificates.see(await issued(-20 * hour, 4 * hour))
  assert.equal(certificates.numbers(nodes, now).client.earliestExpiry, now + 23 * hour)
  certificates.forget('a')
  assert.equal(certificates.numbers(nodes, now).client.states.unknown, 1)
})

function heartbeat(skewSeconds: number, at: number): KubeNode {
  const lastHeartbeatTime = new Date(at + skewSeconds * 1000).toISOString()
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a' },
    status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime }] },
  }
}

function skewOf(...readings: number[]): number {
  const skews = new ClockSkews()
  let previous: KubeNode | undefined = heartbeat(0, now - day)
  readings.forEach((reading, index) => {
    const at = now + index * 300_000
    const node = heartbeat(reading, at)
    skews.see(node, previous, at)
    previous = node
  })
  return skews.largest()
}

test('a clock that is ahead or behind is seen; a report that came late is not', () => {
  assert.equal(skewOf(90, 90, 90), 90)
  assert.equal(skewOf(-200, -200, -200), 200)
  assert.equal(skewOf(0, -280, 0), 0)
  assert.equal(skewOf(0, -1, -280), 0)
  assert.equal(skewOf(-280), 0)
})

test('what was there before it was looked at says nothing of the clock', () => {
  const skews = new ClockSkews()
  const old = heartbeat(0, now - day)
  skews.see(old, undefined, now)
  skews.see(old, old, now)
  assert.equal(skews.largest(), 0)
})
