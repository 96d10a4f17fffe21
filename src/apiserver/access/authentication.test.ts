import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { generateSigner } from '../../keys/private-key.ts'
import type { Peer } from '../../kube/transport.ts'
import type { Secret } from '../../kube/types.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { parseCertificate } from '../../x509/certificate.ts'
import { oids } from '../../x509/oid.ts'
import { ApiError } from '../wire/api-error.ts'
import { createAccess } from './create-access.ts'
import { clientCa, issue, now } from './testing/client-certificates.ts'
import { memoryReader } from './testing/memory-reader.ts'

const ca = await clientCa(1)
const otherCa = await clientCa(2)

const base64 = (text: string) => Buffer.from(text).toString('base64')
const tokenSecret: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  data: {
    'token-id': base64('abcdef'),
    'token-secret': base64('0123456789abcdef'),
    'usage-bootstrap-authentication': base64('true'),
  },
}
const goodToken = 'Bearer abcdef.0123456789abcdef'

function setUp() {
  const clock = createManualClock(now)
  const reader = memoryReader(tokenSecret)
  const log = recordingLog()
  const access = createAccess({ reader, clock, log, clientCertificateAuthorities: ca.pem })
  const authenticate = (certificates: Uint8Array[] | undefined, authorization?: string) => {
    const peer: Peer = { remoteAddress: '127.0.0.1', ...(certificates && { certificates }) }
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    return access.authenticate({ method: 'GET', url: '/', headers }, peer).user
  }
  return { access, authenticate, clock, reader, log }
}

const unauthorized = (error: unknown) =>
  error instanceof ApiError && error.status.code === 401 && error.message === 'Unauthorized'

test('A-31: a client certificate is its CN, its organizations in order and its fingerprint', async () => {
  const leaf = await issue(ca, { commonName: 'system:node:a', organizations: ['system:nodes', 'b'] })
  assert.deepEqual(setUp().authenticate([leaf]), {
    username: 'system:node:a',
    groups: ['system:nodes', 'b', 'system:authenticated'],
    extra: {
      'authentication.kubernetes.io/credential-id': [
        `X509SHA256=${createHash('sha256').update(leaf).digest('hex')}`,
      ],
    },
  })
})

test('A-31: the UID attribute of the subject is the uid', async () => {
  const leaf = await issue(ca, { commonName: 'u', uids: ['42'] })
  assert.equal(setUp().authenticate([leaf]).uid, '42')
})

test('A name in upper case stays as it is', async () => {
  const leaf = await issue(ca, { commonName: 'System:Node:A', organizations: ['System:Masters'] })
  const user = setUp().authenticate([leaf])
  assert.equal(user.username, 'System:Node:A')
  assert.deepEqual(user.groups, ['System:Masters', 'system:authenticated'])
})

test('A-30: no credential at all is anonymous', () => {
  assert.deepEqual(setUp().authenticate(undefined), {
    username: 'system:anonymous',
    groups: ['system:unauthenticated'],
  })
})

test('A-31: a certificate without a CN says nothing, so the request is anonymous', async () => {
  const leaf = await issue(ca, { organizations: ['system:masters'] })
  assert.equal(setUp().authenticate([leaf]).username, 'system:anonymous')
})

const hour = 3_600_000
const refusedLeaves: [why: string, leaf: Promise<Uint8Array>, log: RegExp][] = [
  ['of another CA', issue(otherCa, { commonName: 'a' }), /unknown authority/],
  ['that has expired', issue(ca, { commonName: 'a', notAfter: now - 1000 }), /has expired/],
  ['that is not valid yet', issue(ca, { commonName: 'a', notBefore: now + hour / 2 }), /not yet valid/],
  ['for servers', issue(ca, { commonName: 'a', usage: oids.serverAuth }), /incompatible key usage/],
  ['with two UIDs', issue(ca, { commonName: 'a', uids: ['1', '2'] }), /expected 1 UID/],
  ['with an empty UID', issue(ca, { commonName: 'a', uids: [''] }), /UID cannot be an empty string/],
]

for (const [why, made, reason] of refusedLeaves) {
  test(`A-30, A-31: a certificate ${why} is 401 and never anonymous; the log says why`, async () => {
    const { authenticate, log } = setUp()
    const leaf = await made
    assert.throws(() => authenticate([leaf]), unauthorized)
    assert.deepEqual(log.lines, ['warn: Unable to authenticate the request'])
    assert.match(JSON.stringify(log.fields), reason)
  })

  test(`A-30: a certificate ${why} does not spoil a valid token`, async () => {
    assert.equal(setUp().authenticate([await made], goodToken).username, 'system:bootstrap:abcdef')
  })
}

test('A CN that is not UTF-8 is 401', async () => {
  const leaf = await issue(ca, { commonName: 'system:node:é' })
  const at = Buffer.from(leaf).indexOf('é')
  const broken = Uint8Array.from(leaf)
  broken[at] = 0xff
  const { authenticate, log } = setUp()
  assert.throws(() => authenticate([broken]), unauthorized)
  assert.match(JSON.stringify(log.fields), /parsing certificate failed/)
})

test('A-31: a certificate is refused from the first moment after notAfter, and taken up to it', async () => {
  const leaf = await issue(ca, { commonName: 'a', notAfter: now + 5000 })
  const { authenticate, clock } = setUp()
  const chain = [leaf]
  const user = authenticate(chain)
  clock.step(5000)
  assert.equal(authenticate(chain), user)
  clock.step(1)
  assert.throws(() => authenticate(chain), unauthorized)
  clock.step(-1)
  assert.equal(authenticate(chain).username, 'a')
})

test('A-31: a certificate outlives neither its CA nor the removal of that CA from the bundle', async () => {
  const chain = [await issue(ca, { commonName: 'a', notAfter: now + 100 * hour })]
  const { access, authenticate, clock } = setUp()
  authenticate(chain)
  clock.step(11 * hour)
  assert.throws(() => authenticate(chain), unauthorized)
  clock.step(-11 * hour)
  access.setClientCertificateAuthorities(otherCa.pem)
  assert.throws(() => authenticate(chain), unauthorized)
  access.setClientCertificateAuthorities(otherCa.pem + ca.pem)
  assert.equal(authenticate(chain).username, 'a')
})

test('A bundle that cannot be read leaves the old one in force', async () => {
  const chain = [await issue(ca, { commonName: 'a' })]
  const { access, authenticate } = setUp()
  const broken = ca.pem.replace(/\n[A-Za-z0-9+/]{4}/, '\nAAAA')
  assert.throws(() => access.setClientCertificateAuthorities(broken))
  assert.equal(authenticate(chain).username, 'a')
})

test('The same certificate on another connection is the same user, without a new verification', async () => {
  const leaf = await issue(ca, { commonName: 'a' })
  const { authenticate } = setUp()
  assert.equal(authenticate([leaf]), authenticate([Uint8Array.from(leaf)]))
})

test('A-31: a leaf of an intermediate is accepted only with that intermediate', async () => {
  const signer = generateSigner('Ed25519', seededRandom(5))
  const intermediate = await issue(ca, { commonName: 'intermediate', signer })
  const leaf = await issue(
    { pem: '', certificate: parseCertificate(intermediate), signer },
    { commonName: 'a' },
  )
  const { authenticate } = setUp()
  assert.equal(authenticate([leaf, intermediate]).username, 'a')
  assert.throws(() => authenticate([leaf]), unauthorized)
})

test('A-30: a valid certificate wins over a token, whether good or bad', async () => {
  const chain = [await issue(ca, { commonName: 'a' })]
  const { authenticate } = setUp()
  assert.equal(authenticate(chain, goodToken).username, 'a')
  assert.equal(authenticate(chain, 'Bearer nonsense').username, 'a')
})

test('A-32: a deleted bootstrap token is 401 at once', () => {
  const { authenticate, reader, access } = setUp()
  authenticate(undefined, goodToken)
  const verdict = access.authenticateToken('abcdef.0123456789abcdef')
  assert.equal(verdict.ok && verdict.user.username, 'system:bootstrap:abcdef')
  reader.remove(tokenSecret)
  assert.throws(() => authenticate(undefined, goodToken), unauthorized)
  assert.deepEqual(access.authenticateToken('abcdef.0123456789abcdef'), {
    ok: false,
    reason: 'invalid bearer token',
  })
})

test('An unknown token of 100 KB is 401 and stays out of the log', () => {
  const { authenticate, log } = setUp()
  const text = 'x'.repeat(100 * 1024)
  assert.throws(() => authenticate(undefined, `Bearer ${text}`), unauthorized)
  assert.ok(JSON.stringify(log.fields).length < 500)
})

test('An Authorization header of another scheme counts as no credential', () => {
  assert.equal(setUp().authenticate(undefined, 'Basic YTpi').username, 'system:anonymous')
})

test('No header and no certificate bytes give anything but a user or 401', () => {
  const { authenticate } = setUp()
  const bytes = fc.option(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 3 }), { nil: undefined })
  const header = fc.option(fc.string({ unit: 'binary', maxLength: 80 }), { nil: undefined })
  fc.assert(
    fc.property(bytes, header, (certificates, authorization) => {
      try {
        assert.equal(authenticate(certificates, authorization).username, 'system:anonymous')
      } catch (error) {
        assert.ok(unauthorized(error), String(error))
      }
    }),
  )
})

test('A certificate with any one byte changed is never another user', async () => {
  const leaf = await issue(ca, { commonName: 'system:node:a', organizations: ['system:nodes'] })
  const { authenticate } = setUp()
  const position = fc.nat({ max: leaf.length - 1 })
  fc.assert(
    fc.property(position, fc.integer({ min: 1, max: 255 }), (at, change) => {
      const changed = Uint8Array.from(leaf)
      changed[at] = (changed[at] ?? 0) ^ change
      assert.throws(() => authenticate([changed]), unauthorized)
    }),
    { numRuns: 200 },
  )
})
