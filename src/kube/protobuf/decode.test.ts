import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../../errors.ts'
import { decodeKubernetesProtobuf } from './decode.ts'

type Part = number | bigint | string | Uint8Array | Part[]

const bytesOf = (...parts: Part[]): Uint8Array =>
  Buffer.concat(
    parts.map(part => {
      if (typeof part === 'number') return Buffer.of(part)
      if (typeof part === 'bigint') return varint(part)
      if (typeof part === 'string') return Buffer.from(part)
      return part instanceof Uint8Array ? part : bytesOf(...part)
    }),
  )

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  return Buffer.of(...bytes, Number(rest))
}

/** A length-delimited field. */
const field = (number: number, ...content: Part[]): Uint8Array => {
  const body = bytesOf(...content)
  return bytesOf(varint(BigInt(number * 8 + 2)), varint(BigInt(body.length)), body)
}
const integer = (number: number, value: bigint): Uint8Array =>
  bytesOf(varint(BigInt(number * 8)), varint(value))
const envelope = (apiVersion: string, kind: string, ...raw: Part[]): Uint8Array =>
  bytesOf('k8s\0', field(1, field(1, apiVersion), field(2, kind)), field(2, ...raw), field(3), field(4))

test('W-2: a Lease keeps pointers to zero values and writes times with six digits', () => {
  const bytes = envelope(
    'coordination.k8s.io/v1',
    'Lease',
    field(1, field(1, 'a'), field(3, 'kube-node-lease'), field(2), field(8)),
    field(2, field(1), integer(2, 40n), field(4, integer(1, 1_700_000_000n), integer(2, 123_456_789n))),
  )
  assert.deepEqual(decodeKubernetesProtobuf(bytes), {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name: 'a', namespace: 'kube-node-lease' },
    spec: { holderIdentity: '', leaseDurationSeconds: 40, renewTime: '2023-11-14T22:13:20.123456Z' },
  })
})

test('W-2: a CSR carries bytes as base64 and extra values as lists', () => {
  const bytes = envelope(
    'certificates.k8s.io/v1',
    'CertificateSigningRequest',
    field(1, field(2, 'csr-'), field(11, field(1, 'l'), field(2, 'v'))),
    field(
      2,
      field(1, 'PEM'),
      field(5, 'client auth'),
      field(5, 'digital signature'),
      field(6, field(1, 'key'), field(2, field(1, 'x'), field(1, 'y'))),
      field(7, 'kubernetes.io/kubelet-serving'),
      integer(8, 600n),
    ),
    field(3, field(1, field(1, 'Approved'), field(6, 'True'), field(4, integer(1, 0n)))),
  )
  assert.deepEqual(decodeKubernetesProtobuf(bytes), {
    kind: 'CertificateSigningRequest',
    apiVersion: 'certificates.k8s.io/v1',
    metadata: { generateName: 'csr-', labels: { l: 'v' } },
    spec: {
      request: 'UEVN',
      usages: ['client auth', 'digital signature'],
      extra: { key: ['x', 'y'] },
      signerName: 'kubernetes.io/kubelet-serving',
      expirationSeconds: 600,
    },
    status: {
      conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: '1970-01-01T00:00:00Z' }],
    },
  })
})

test('W-2: a Node carries quantities as strings and numbers as numbers', () => {
  const bytes = envelope(
    'v1',
    'Node',
    field(3, field(1, field(1, 'cpu'), field(2, field(1, '2'))), field(6, field(1, integer(1, 10250n)))),
  )
  assert.deepEqual(decodeKubernetesProtobuf(bytes), {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {},
    status: { capacity: { cpu: '2' }, daemonEndpoints: { kubeletEndpoint: { Port: 10250 } } },
  })
})

test('W-2: a Pod flattens the structs that Go inlines and keeps empty pointers', () => {
  const volume = field(1, field(1, 'v'), field(2, field(2)))
  const probe = field(10, field(1, field(2, field(1, '/'), field(2, integer(1, 1n), field(3, 'http')))))
  const bytes = envelope('v1', 'Pod', field(2, volume, field(2, field(1, 'c'), probe), integer(25, 0n)))
  assert.deepEqual(decodeKubernetesProtobuf(bytes), {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {},
    spec: {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [{ name: 'c', livenessProbe: { httpGet: { path: '/', port: 'http' } } }],
      priority: 0,
    },
  })
})

test('W-2: DeleteOptions come under the version of what is deleted', () => {
  const bytes = envelope('resource.k8s.io/v1', 'DeleteOptions', integer(1, 0n), field(4, 'Background'))
  assert.deepEqual(decodeKubernetesProtobuf(bytes), {
    kind: 'DeleteOptions',
    apiVersion: 'resource.k8s.io/v1',
    metadata: {},
    gracePeriodSeconds: 0,
    propagationPolicy: 'Background',
  })
})

test('fields of newer versions are skipped', () => {
  const bytes = envelope(
    'v1',
    'Namespace',
    field(99, 'new'),
    integer(98, 1n),
    bytesOf(0xe5, 0x06, 1, 2, 3, 4),
  )
  assert.deepEqual(decodeKubernetesProtobuf(bytes).metadata, {})
})

test('hostile bytes are refused', () => {
  const secret = (...raw: Part[]) => envelope('v1', 'Secret', ...raw)
  const cases: Record<string, Uint8Array> = {
    empty: bytesOf(),
    'no magic': bytesOf('{"kind":"Secret"}'),
    'unknown kind': envelope('v1', 'Gadget'),
    'kind of another group': envelope('apps/v1', 'Secret'),
    'kind named like a property': envelope('constructor', 'Secret'),
    truncated: secret(0x0a, 0x7f, 'x'),
    'huge length': secret(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
    'varint of eleven bytes': secret(0x28, ...Array<number>(10).fill(0xff), 1),
    'varint beyond 64 bits': secret(0x28, ...Array<number>(9).fill(0xff), 2),
    group: secret(0x0b),
    'field 0': secret(0x02, 0),
    'wrong wire type': secret(integer(1, 1n)),
    'not UTF-8': secret(field(3, Buffer.of(0xff))),
    'twice the same field': secret(field(3, 'Opaque'), field(3, 'other')),
    __proto__: secret(field(4, field(1, '__proto__'), field(2, 'x'))),
    'year 10000': secret(field(1, field(8, integer(1, 253_402_300_800n)))),
    'deep raw JSON': secret(field(1, field(17, field(7, field(1, '['.repeat(99), ']'.repeat(99)))))),
    'raw JSON that is none': secret(field(1, field(17, field(7, field(1, '{'))))),
  }
  for (const [name, bytes] of Object.entries(cases)) {
    assert.throws(
      () => decodeKubernetesProtobuf(bytes),
      error => hasCode(error, 'PROTOBUF_MALFORMED'),
      name,
    )
  }
})

test('no bytes make the decoder fail in another way than its own error', () => {
  const kinds = fc.constantFrom(
    ['v1', 'Node'],
    ['v1', 'Pod'],
    ['v1', 'Event'],
    ['certificates.k8s.io/v1', 'CertificateSigningRequest'],
    ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
  )
  const content = fc.letrec<{ message: Uint8Array }>(tie => ({
    message: fc
      .array(
        fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fc.uint8Array({ maxLength: 4 }),
          fc
            .tuple(fc.integer({ min: 1, max: 20 }), tie('message'))
            .map(([number, body]) => field(number, body)),
          fc
            .tuple(fc.integer({ min: 1, max: 20 }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))
            .map(([number, value]) => integer(number, value)),
          fc.tuple(fc.integer({ min: 1, max: 20 }), fc.string()).map(([number, text]) => field(number, text)),
        ),
        { maxLength: 4 },
      )
      .map(parts => bytesOf(...parts)),
  })).message
  fc.assert(
    fc.property(kinds, content, ([apiVersion = '', kind = ''], raw) => {
      try {
        decodeKubernetesProtobuf(envelope(apiVersion, kind, raw))
      } catch (error) {
        assert.ok(hasCode(error, 'PROTOBUF_MALFORMED'), String(error))
      }
    }),
    { numRuns: 500 },
  )
})
