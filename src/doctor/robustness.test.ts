import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { signerNames } from '../kube/types.ts'
import { allChecks } from './all-checks.ts'
import { type GatheredArtifacts, nothingGathered } from './artifacts/artifacts.ts'
import { decodeBundle, encodeBundle, scrub } from './bundle.ts'
import { diagnose } from './diagnose.ts'

const now = Date.UTC(2026, 2, 1)
const text = fc.oneof(fc.string(), fc.constantFrom('worker-1', '10.0.0.1', '::1', 'LOCALHOST', '*', ''))
const base64 = fc.uint8Array({ maxLength: 64 }).map(bytes => Buffer.from(bytes).toString('base64'))
const time = fc
  .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
  .map(date => `${date.toISOString().slice(0, 19)}Z`)
const metadata = fc.record({ name: text, creationTimestamp: time }, { requiredKeys: ['name'] })
const condition = fc.record({
  type: fc.constantFrom('Approved', 'Denied', 'Failed', 'Other'),
  status: fc.constantFrom('True' as const, 'False' as const),
  reason: text,
  lastUpdateTime: time,
})
const request = fc.record({
  apiVersion: fc.constant('certificates.k8s.io/v1'),
  kind: fc.constant('CertificateSigningRequest'),
  metadata,
  spec: fc.record(
    {
      request: base64,
      signerName: fc.constantFrom(...Object.values(signerNames), 'example.com/x'),
      usages: fc.array(text, { maxLength: 3 }),
      username: text,
      groups: fc.array(text, { maxLength: 3 }),
      expirationSeconds: fc.nat(),
    },
    { requiredKeys: ['request', 'signerName', 'usages'] },
  ),
  status: fc.record(
    { conditions: fc.array(condition, { maxLength: 3 }), certificate: base64 },
    { requiredKeys: [] },
  ),
})
const node = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('Node'),
  metadata,
  status: fc.record(
    {
      addresses: fc.array(fc.record({ type: fc.constantFrom('InternalIP', 'Hostname'), address: text }), {
        maxLength: 3,
      }),
      nodeInfo: fc.record({ machineID: fc.constantFrom('a', 'b', '') }),
    },
    { requiredKeys: [] },
  ),
})
const lease = fc.record({
  apiVersion: fc.constant('coordination.k8s.io/v1'),
  kind: fc.constant('Lease'),
  metadata,
  spec: fc.record(
    { renewTime: time, holderIdentity: text, leaseDurationSeconds: fc.nat() },
    { requiredKeys: [] },
  ),
})
const served = fc.record({ host: text, port: fc.nat(65_535), chain: fc.array(base64, { maxLength: 2 }) })
const ok = <T>(value: fc.Arbitrary<T>) => value.map(value => ({ status: 'ok' as const, value }))

const gathered = fc
  .record({
    requests: ok(fc.array(request, { maxLength: 6 })),
    nodes: ok(fc.array(node, { maxLength: 4 })),
    nodeLeases: ok(fc.array(lease, { maxLength: 4 })),
    controllerLeases: ok(fc.array(lease, { maxLength: 2 })),
    rootCertificates: ok(fc.array(fc.record({ namespace: text, pem: text }), { maxLength: 3 })),
    clientTrust: ok(text),
    apiServing: ok(served),
    probes: ok(
      fc.array(
        served.chain(of =>
          fc.record({ node: text, at: fc.oneof(time, text) }).map(seen => ({ ...seen, ...of })),
        ),
        { maxLength: 3 },
      ),
    ),
    ledgerLeaves: ok(
      fc.array(
        fc.record({
          node: text,
          kind: fc.constantFrom('client' as const, 'serving' as const),
          notBefore: fc.oneof(time, text),
          notAfter: fc.oneof(time, text),
          ipAddresses: fc.array(text, { maxLength: 2 }),
          dnsNames: fc.array(text, { maxLength: 2 }),
        }),
        { maxLength: 3 },
      ),
    ),
    joinAccess: ok(fc.constant([])),
    requesterAccess: ok(fc.constant([])),
    ownCertificate: ok(text),
    apiAnswer: ok(
      fc.record({
        server: text,
        version: fc.oneof(text, fc.constantFrom('v1.25.3', 'v1.36.0')),
        trouble: fc.record({
          kind: fc.constantFrom('silent', 'strange', 'untrusted', 'refused'),
          message: text,
        }),
      }),
    ),
    rotations: ok(
      fc.array(
        fc.record(
          {
            name: text,
            role: fc.constantFrom('client', 'apiserver-serving'),
            from: fc.nat(9),
            to: fc.nat(9),
            phase: fc.constantFrom('Proving', 'Done', ''),
            begun: fc.oneof(time, text),
            paused: fc.record({ since: fc.oneof(time, text), reason: text }),
          },
          { requiredKeys: ['name', 'role', 'from', 'to', 'phase', 'begun'] },
        ),
        { maxLength: 3 },
      ),
    ),
    podsBeforeCa: ok(
      fc.record({
        notBefore: time,
        pods: fc.array(fc.record({ namespace: text, name: text, started: text }), { maxLength: 3 }),
      }),
    ),
    tokenKeys: ok(
      fc.record({
        keyIds: fc.array(text, { maxLength: 2 }),
        tokens: fc.array(fc.record({ secret: text, keyId: text }), { maxLength: 3 }),
      }),
    ),
    joinPins: ok(
      fc.record({ server: text, pins: fc.array(text, { minLength: 1 }), certificateAuthority: text }),
    ),
    logLines: ok(
      fc.array(
        fc.record({
          file: text,
          text: fc.constantFrom('Rotating certificates', 'rotation deadline', 'Unauthorized', 'usages', ''),
        }),
        { maxLength: 5 },
      ),
    ),
  })
  // As it comes out of a file: plain JSON, without fields that are undefined.
  .map(
    (artifacts): GatheredArtifacts => ({ ...nothingGathered('x'), ...JSON.parse(JSON.stringify(artifacts)) }),
  )

test('whatever the cluster holds, the doctor gives a report, and the same of a bundle', () => {
  fc.assert(
    fc.property(gathered, artifacts => {
      const report = diagnose('x', artifacts, now, allChecks)
      for (const { objects, evidence, fix, verify } of report.findings) {
        assert.ok(objects.length > 0 && evidence.length > 0 && fix.length > 0 && verify.run !== '')
      }
      const bundle = decodeBundle(encodeBundle('x', artifacts, now))
      const again = diagnose('x', bundle.artifacts, Date.parse(bundle.gatheredAt), allChecks)
      assert.deepEqual(
        again.findings.map(({ id }) => id),
        report.findings.map(({ id }) => id),
      )
    }),
    { numRuns: 150 },
  )
})

test('no bootstrap token, web token or key survives in a text, whatever stands around it', () => {
  const word = (characters: string, length: number) =>
    fc.array(fc.constantFrom(...characters), { minLength: length, maxLength: length }).map(of => of.join(''))
  const lower = 'abcdefghijklmnopqrstuvwxyz0123456789'
  const secret = fc.oneof(
    fc.tuple(word(lower, 6), word(lower, 16)).map(([id, rest]) => ({ whole: `${id}.${rest}`, part: rest })),
    fc.tuple(word(lower, 20), word(lower, 30)).map(([a, b]) => ({ whole: `eyJ${a}.${b}.${a}`, part: b })),
    word(lower, 64).map(part => ({
      whole: `-----BEGIN PRIVATE KEY-----\n${part}\n-----END PRIVATE KEY-----\n`,
      part,
    })),
  )
  const around = fc.oneof(
    fc.constantFrom('', ' ', '"', 'token: ', '\n', ', ', '(', 'Bearer '),
    fc.lorem().map(of => `${of} `),
  )
  fc.assert(
    fc.property(
      around,
      secret,
      fc.constantFrom('', ' ', '"', '\n', ', ', ')'),
      (before, { whole, part }, after) => {
        assert.ok(!scrub(before + whole + after).includes(part))
      },
    ),
  )
})
