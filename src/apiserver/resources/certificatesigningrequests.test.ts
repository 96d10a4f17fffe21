import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import type { CertificateSigningRequest, CsrCondition } from '../../kube/types.ts'
import { nameOf } from '../../x509/name.ts'
import { encodePem } from '../../x509/pem.ts'
import { assembleSigned, encodeRequestInfo } from '../../x509/request.ts'
import { usageWords } from '../../x509/usages.ts'
import { certificateSigningRequests as resource } from './certificatesigningrequests.ts'
import type { WriteContext } from './resource.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const spki = new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }))

function requestPem(label = 'CERTIFICATE REQUEST', signWith = privateKey): string {
  const subject = nameOf({ commonName: 'system:node:a', organizations: ['system:nodes'] })
  const tbs = encodeRequestInfo({ subject, spki })
  const signature = new Uint8Array(sign('sha256', tbs, signWith))
  return Buffer.from(encodePem(label, assembleSigned(tbs, 'ecdsa-with-SHA256', signature))).toString('base64')
}

const request = requestPem()
/** Any certificate: the API only asks that it parses. */
const certificate = Buffer.from(`text before\n${encodePem('CERTIFICATE', new Uint8Array())}`).toString(
  'base64',
)

const context: WriteContext = {
  user: { username: 'system:node:a', groups: ['system:nodes', 'system:authenticated'] },
  now: Date.parse('2026-01-01T00:00:00Z'),
  subresource: '',
}

function csr(spec: Partial<CertificateSigningRequest['spec']> = {}): CertificateSigningRequest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr-1' },
    spec: {
      request,
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
      ...spec,
    },
  }
}

function withStatus(status: NonNullable<CertificateSigningRequest['status']>): CertificateSigningRequest {
  return { ...csr(), status: structuredClone(status) }
}

const complaints = (errors: { field: string; text: string }[]) =>
  errors.map(({ field, text }) => `${field}: ${text}`)
const approved: CsrCondition = { type: 'Approved', status: 'True', reason: 'r' }

test('A-2: the requestor is the authenticated user, whatever the body says, and status is empty', () => {
  const object = csr({ username: 'admin', uid: '1', groups: ['system:masters'], extra: { a: ['b'] } })
  object.status = { conditions: [approved], certificate }
  resource.prepareForCreate(object, context)
  assert.deepEqual(object, {
    ...csr({ username: 'system:node:a', groups: ['system:nodes', 'system:authenticated'] }),
    status: {},
  })
  resource.prepareForCreate(object, {
    ...context,
    user: { username: 'u', uid: '2', groups: [], extra: { x: ['y'] } },
  })
  assert.deepEqual(object.spec, csr({ username: 'u', uid: '2', extra: { x: ['y'] } }).spec)
})

test('A-3: names are path segments', () => {
  assert.deepEqual(resource.validateName('Any_thing:at all'), [])
  assert.deepEqual(resource.validateName('a%b/c'), ["may not contain '/'", "may not contain '%'"])
  assert.deepEqual(resource.validateName('..'), ["may not be '..'"])
})

test('A-5: what is wrong with a request is said in the words and order of Kubernetes', () => {
  assert.deepEqual(resource.validate(csr()), [])
  const wrong = csr({ request: 'Zm9v', expirationSeconds: 5 })
  assert.deepEqual(complaints(resource.validate(wrong)), [
    'spec.request: Invalid value: "Zm9v": PEM block type must be CERTIFICATE REQUEST',
    'spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 600 seconds (10 minutes)',
  ])
})

test('A-5: a request must be PEM of the right type, parse, and be signed with its own key', () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const cases: [string, RegExp][] = [
    [requestPem('NEW CERTIFICATE REQUEST'), /PEM block type must be CERTIFICATE REQUEST/],
    [Buffer.from(encodePem('CERTIFICATE REQUEST', Buffer.of(0x30, 0))).toString('base64'), /x509: malformed/],
    [requestPem('CERTIFICATE REQUEST', other), /": x509: ECDSA verification failure$/],
  ]
  for (const [request, expected] of cases) {
    const [complaint, ...rest] = complaints(resource.validate(csr({ request })))
    assert.match(complaint ?? '', expected)
    assert.deepEqual(rest, [])
  }
})

test('A-5: usages must be there, known and different', () => {
  assert.equal(usageWords.length, 23)
  assert.deepEqual(complaints(resource.validate(csr({ usages: [] }))), ['spec.usages: Required value'])
  const [unknown, duplicate] = complaints(
    resource.validate(csr({ usages: ['client auth', 'fly', 'client auth'] })),
  )
  assert.match(
    unknown ?? '',
    /^spec\.usages\[1\]: Unsupported value: "fly": supported values: "any", "cert sign", /,
  )
  assert.equal(duplicate, 'spec.usages[2]: Duplicate value: "client auth"')
})

test('A-5: a signer name is a domain and a path', () => {
  const cases: [string, string][] = [
    ['', 'Required value'],
    [
      'kubernetes.io/legacy-unknown',
      'Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ],
    [
      'a.b/c/d',
      'Invalid value: "a.b/c/d": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
    ],
    [
      'example/a',
      'Invalid value: "example": should be a domain with at least two segments separated by dots',
    ],
  ]
  for (const [signerName, expected] of cases) {
    assert.deepEqual(complaints(resource.validate(csr({ signerName }))), [`spec.signerName: ${expected}`])
  }
  const [label] = complaints(resource.validate(csr({ signerName: 'Example.com/x_y' })))
  assert.match(
    label ?? '',
    /^spec\.signerName: Invalid value: "Example\.com": validating label "Example": a lowercase RFC 1123 label/,
  )
  assert.deepEqual(resource.validate(csr({ signerName: 'example.com/my.signer' })), [])
})

test('A-4: PUT of the object changes neither spec nor status', () => {
  const previous = withStatus({ conditions: [approved] })
  const next = csr({ signerName: 'example.com/other' })
  resource.prepareForUpdate(next, previous, context)
  assert.deepEqual(next, previous)
})

const { approval, status } = resource.subresources
assert.ok(approval && status)

function update(
  path: typeof approval,
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
): string[] {
  assert.ok(path)
  path.prepareForUpdate(next, previous, context)
  return complaints(path.validateUpdate(next, previous))
}

test('A-6, A-8: /approval takes the conditions alone and stamps them', () => {
  const next = withStatus({ conditions: [{ ...approved }], certificate })
  next.spec.signerName = 'example.com/other'
  assert.deepEqual(update(approval, next, csr()), [])
  const stamped = {
    ...approved,
    lastUpdateTime: '2026-01-01T00:00:00Z',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  assert.deepEqual(next, withStatus({ conditions: [stamped] }))
})

test('A-8: a transition time stays while type and status stay', () => {
  const before = {
    ...approved,
    lastUpdateTime: '2020-01-01T00:00:00Z',
    lastTransitionTime: '2020-01-01T00:00:00Z',
  }
  const next = withStatus({ conditions: [{ ...approved, message: 'again' }] })
  assert.deepEqual(update(approval, next, withStatus({ conditions: [before] })), [])
  assert.equal(next.status?.conditions?.[0]?.lastTransitionTime, '2020-01-01T00:00:00Z')
  assert.equal(next.status?.conditions?.[0]?.lastUpdateTime, '2026-01-01T00:00:00Z')
})

test('A-6: what says approved, denied or failed cannot be removed, custom conditions can', () => {
  const previous = withStatus({ conditions: [approved, { type: 'Custom', status: 'Unknown' }] })
  assert.deepEqual(update(approval, withStatus({ conditions: [approved] }), previous), [])
  assert.deepEqual(update(approval, withStatus({ conditions: [] }), previous), [
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ])
})

test('A-5: conditions need type and status, exclude each other and occur once', () => {
  const next = withStatus({
    conditions: [
      approved,
      { type: 'Denied', status: 'True' },
      { type: 'Custom', status: 'Maybe' as never },
      { type: 'Failed', status: 'False' },
      { type: '', status: '' as never },
      approved,
    ],
  })
  assert.deepEqual(update(approval, next, csr()), [
    'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    'status.conditions[2].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
    'status.conditions[3].status: Unsupported value: "False": supported values: "True"',
    'status.conditions[4].type: Required value',
    'status.conditions[4].status: Required value',
    'status.conditions[5].type: Invalid value: "Approved": Approved and Denied conditions are mutually exclusive',
    'status.conditions[5].type: Duplicate value: "Approved"',
  ])
})

test('A-7: /status may fail but not approve, and keeps the approval as it was', () => {
  assert.deepEqual(update(status, withStatus({ conditions: [approved] }), csr()), [
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ])
  const next = withStatus({
    conditions: [
      { ...approved, reason: 'forged' },
      { type: 'Failed', status: 'True' },
    ],
  })
  assert.deepEqual(update(status, next, withStatus({ conditions: [approved] })), [])
  assert.equal(next.status?.conditions?.[0]?.reason, 'r')
})

test('A-7: a certificate can be set once, on /status alone, without an approval', () => {
  const text = (pem: string) => Buffer.from(pem).toString('base64')
  assert.deepEqual(update(status, withStatus({ certificate: text('no pem') }), csr()), [
    'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
  ])
  assert.deepEqual(update(status, withStatus({ certificate: request }), csr()), [
    'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
  ])
  const headers = encodePem('CERTIFICATE', Buffer.of(0x30, 0)).replace('-----\n', '-----\nA: b\n\n')
  assert.deepEqual(update(status, withStatus({ certificate: text(headers) }), csr()), [
    'status.certificate: Invalid value: "<certificate data>": no PEM block headers are permitted',
  ])
  const [replaced] = update(status, withStatus({ certificate: text('other') }), withStatus({ certificate }))
  assert.equal(replaced, 'status.certificate: Forbidden: updates may not modify existing certificate content')
})

test('A-9: what was stored wrong may stay as it is', () => {
  const previous = withStatus({
    conditions: [approved, { type: 'Denied', status: 'True' }],
    certificate: 'bad',
  })
  previous.spec = { ...previous.spec, usages: ['fly', 'fly'], signerName: 'kubernetes.io/legacy-unknown' }
  assert.deepEqual(update(approval, structuredClone(previous), previous), [])
  assert.deepEqual(update(status, structuredClone(previous), previous), [])
  assert.deepEqual(resource.validateUpdate(structuredClone(previous), previous), [])
})

test('A-20, A-21: the table shows what kubectl get csr shows', () => {
  const cells = (object: CertificateSigningRequest) =>
    resource.columns.map(column => column.value(object, context.now))
  const object = csr({ username: 'u', expirationSeconds: 3600 })
  object.metadata.creationTimestamp = '2025-12-31T23:59:40Z'
  assert.deepEqual(cells(object), ['csr-1', '20s', 'kubernetes.io/kubelet-serving', 'u', '60m', 'Pending'])
  const condition = (status: NonNullable<CertificateSigningRequest['status']>) =>
    cells(withStatus(status)).at(-1)
  const failed: CsrCondition = { type: 'Failed', status: 'True' }
  assert.equal(condition({ conditions: [approved, failed] }), 'Approved,Failed')
  assert.equal(condition({ conditions: [approved], certificate }), 'Approved,Issued')
  assert.equal(condition({ certificate }), 'Pending,Issued')
  assert.equal(condition({ conditions: [approved, { type: 'Denied', status: 'True' }] }), 'Denied')
  assert.equal(cells(csr()).at(-2), '<none>')
})
