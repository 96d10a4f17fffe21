import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { issuePair } from '../src/cluster/issue-pair.ts'
import { systemRandom } from '../src/host/random.ts'
import { generateSigner, loadSigner } from '../src/keys/private-key.ts'
import { Secret } from '../src/keys/secret.ts'
import { selfSignedCa } from '../src/keys/self-signed.ts'
import type { ConnectionConfig } from '../src/kube/transport.ts'
import { parseCertificatesPem } from '../src/x509/certificate.ts'
import { type Answer, type ApiConnection, connect, connectionOf } from './support/api-connection.ts'
import { requestObject, requestPem, type Wanted } from './support/certificate-request.ts'
import { eventually } from './support/eventually.ts'
import { type RollcallProcess, startRollcall, temporaryFolder } from './support/rollcall-process.ts'

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const secrets = '/api/v1/namespaces/kube-system/secrets'
const hour = 3_600_000

const folder = temporaryFolder()
const directory = join(folder.path, 'data')
let server: RollcallProcess
let config: ConnectionConfig
let admin: ApiConnection

before(async () => {
  server = startRollcall(['server', '--dir', directory, '--port', '0'])
  await server.ready
  config = await connectionOf(join(directory, 'admin.kubeconfig'))
  admin = connect(config)
})
after(async () => {
  admin?.close()
  await server?.stop()
  folder.remove()
})

const failure = ({ status, body }: Answer) => `${status} ${body.reason}: ${body.message}`

describe('certificate requests that cannot be', () => {
  const base: Wanted = { name: 'bad', signerName: 'example.com/turnstile' }
  const post = async (more: Partial<Wanted>) =>
    failure(await admin.send('POST', requests, await requestObject({ ...base, ...more })))
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const invalid = '422 Invalid: CertificateSigningRequest.certificates.k8s.io "bad" is invalid: '

  test('bytes that are no request, or signed by another key, are refused by what is wrong with them', async () => {
    const good = await requestPem({ commonName: 'jane' })
    const cut = good.replace(/\n[^\n]+\n(?=-----END)/, '\n')
    const pem = (label: string) => good.replaceAll('CERTIFICATE REQUEST', label)
    const field = `${invalid}spec.request: Invalid value: `
    const wrong = 'PEM block type must be CERTIFICATE REQUEST'
    const block = (text: string) => JSON.stringify(base64(text))
    assert.equal(await post({ request: base64('no PEM') }), `${field}${block('no PEM')}: ${wrong}`)
    assert.equal(
      await post({ request: base64(pem('CERTIFICATE')) }),
      `${field}${block(pem('CERTIFICATE'))}: ${wrong}`,
    )
    assert.match(
      await post({ request: base64(cut) }),
      /^422 Invalid: .* spec\.request: Invalid value: .*: (asn1|x509): /,
    )
    const forged = await requestPem({ commonName: 'jane' }, true)
    assert.equal(
      await post({ request: base64(forged) }),
      `${field}${block(forged)}: x509: ECDSA verification failure`,
    )
    assert.match(await post({ request: '%%%' }), /^400 BadRequest: .*illegal base64 data at input byte 0$/)
  })

  test('usages, signers and durations outside the rules are refused by name', async () => {
    assert.match(await post({ usages: [] }), /spec\.usages: Required value$/)
    assert.match(
      await post({ usages: ['world domination'] }),
      /spec\.usages\[0\]: Unsupported value: "world domination"/,
    )
    assert.match(await post({ usages: ['any', 'any'] }), /spec\.usages\[1\]: Duplicate value: "any"$/)
    assert.match(
      await post({ signerName: 'kubernetes.io/legacy-unknown' }),
      /the legacy signerName is not allowed via this API version$/,
    )
    assert.match(
      await post({ signerName: 'nowhere' }),
      /must be a fully qualified domain and path of the form 'example\.com\/signer-name'/,
    )
    assert.match(
      await post({ expirationSeconds: 599 }),
      /spec\.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds \(10 minutes\)$/,
    )
  })

  test('a body that is cut short, of another kind, or too large is refused, and the server goes on', async () => {
    const text = JSON.stringify(await requestObject(base))
    const raw = async (body: string, type = 'application/json') =>
      failure(await admin.send('POST', requests, new TextEncoder().encode(body), type))
    assert.match(await raw(text.slice(0, -9)), /^400 BadRequest: .*json parse error/)
    assert.match(await raw(text.replace('SigningRequest"', 'SingingRequest"')), /^400 BadRequest: /)
    assert.match(await raw('k8s\0\xff\xff', 'application/vnd.kubernetes.protobuf'), /^400 BadRequest: /)
    assert.match(await raw(text, 'text/html'), /^415 UnsupportedMediaType: /)
    const large = { ...(await requestObject(base)), filling: 'x'.repeat(3 * 1024 * 1024) }
    assert.equal(
      failure(await admin.send('POST', requests, large)),
      '413 RequestEntityTooLarge: Request entity too large: limit is 3145728',
    )
    assert.equal((await admin.send('GET', '/readyz')).status, 200)
  })

  test('an approved request for usages its signer does not give fails, with the reason on it', async () => {
    const name = 'wrong-usage'
    const wanted = { name, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['server auth'] }
    const created = await admin.send('POST', requests, await requestObject(wanted))
    assert.equal(created.status, 201)
    const approval = { type: 'Approved', status: 'True', reason: 'Test', message: 'approved by a test' }
    const approved = await admin.send('PUT', `${requests}/${name}/approval`, {
      ...created.body,
      status: { conditions: [approval] },
    })
    assert.equal(approved.status, 200)
    const failed = await eventually('the signer refuses the request', async () => {
      const { body } = await admin.send('GET', `${requests}/${name}`)
      return body.status?.conditions?.find(({ type }) => type === 'Failed')
    })
    assert.equal(failed.reason, 'SignerValidationFailure')
    assert.match(failed.message ?? '', /usage/)
  })
})

describe('credentials that do not hold', () => {
  /** The answer to who comes with `credential` and with nothing else. */
  async function whoWith(credential: Partial<ConnectionConfig>, path = requests): Promise<string> {
    const { server, certificateAuthority = '' } = config
    const connection = connect({ server, certificateAuthority, ...credential })
    try {
      const answer = await connection.send('GET', path)
      return answer.status < 400 ? String(answer.status) : failure(answer)
    } finally {
      connection.close()
    }
  }
  const unauthorized = '401 Unauthorized: Unauthorized'
  const read = (name: string) => readFileSync(join(directory, 'pki', name), 'utf8')
  const clientIdentity = {
    commonName: 'eve',
    organizations: ['system:masters'],
    usage: 'client auth' as const,
  }

  async function caOf(pem: string, key: string | Secret) {
    const [certificate] = parseCertificatesPem(pem)
    assert.ok(certificate)
    return { pem, certificate, signer: loadSigner(key) }
  }

  test('who brings nothing is anonymous: health is open, requests are not', async () => {
    assert.equal(await whoWith({}, '/readyz'), '200')
    assert.match(
      await whoWith({}),
      /^403 Forbidden: certificatesigningrequests\.certificates\.k8s\.io is forbidden: User "system:anonymous" cannot list resource "certificatesigningrequests" in API group "certificates\.k8s\.io" at the cluster scope/,
    )
  })

  test('a token that is unknown, malformed or expired is refused; a good one is taken', async () => {
    const token = (id: string, expiration: number) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': id,
        'token-secret': '0123456789abcdef',
        expiration: new Date(expiration).toISOString(),
        'usage-bootstrap-authentication': 'true',
        'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
      },
    })
    // The cleaner may delete the expired one at any moment: it is as unknown then as it was unusable before.
    for (const secret of [token('expire', Date.now() - 1000), token('lively', Date.now() + hour)])
      assert.equal((await admin.send('POST', secrets, secret)).status, 201)
    const bearer = (text: string) => whoWith({ bearerToken: new Secret(text) })
    assert.equal(await bearer('expire.0123456789abcdef'), unauthorized)
    assert.equal(await bearer('lively.fedcba9876543210'), unauthorized)
    assert.equal(await bearer('nobody.0123456789abcdef'), unauthorized)
    assert.equal(await bearer('nonsense'), unauthorized)
    assert.equal(await bearer('lively.0123456789abcdef'), '200')
  })

  test('a certificate of another CA, expired, or made for a server is no identity', async () => {
    const now = Date.now()
    const signer = generateSigner('ECDSA-P256', systemRandom)
    const times = { notBefore: now - hour, notAfter: now + hour }
    const foreignPem = await selfSignedCa({
      commonName: 'kubernetes',
      signer,
      ...times,
      random: systemRandom,
    })
    const foreign = await caOf(foreignPem, signer.exportPem())
    const ours = await caOf(read('ca.crt'), read('ca.key'))
    const identity = { ...clientIdentity, lifetime: hour, now }
    const pairs = {
      'of another CA': await issuePair(foreign, identity, systemRandom),
      expired: await issuePair(ours, { ...identity, now: now - 2 * hour }, systemRandom),
      'not valid yet': await issuePair(ours, { ...identity, now: now + hour }, systemRandom),
      'for a server': { certificate: read('apiserver.crt'), key: new Secret(read('apiserver.key')) },
    }
    for (const [what, clientCertificate] of Object.entries(pairs))
      assert.equal(await whoWith({ clientCertificate }), unauthorized, what)
    // a certificate that fails does not spoil a token that holds.
    const token = new Secret('lively.0123456789abcdef')
    assert.equal(await whoWith({ clientCertificate: pairs.expired, bearerToken: token }), '200')
    const good = await issuePair(ours, identity, systemRandom)
    assert.equal(await whoWith({ clientCertificate: good }), '200')
  })

  test('a client that trusts another CA is not connected at all', async () => {
    const signer = generateSigner('ECDSA-P256', systemRandom)
    const now = Date.now()
    const certificateAuthority = await selfSignedCa({
      commonName: 'kubernetes',
      signer,
      notBefore: now - hour,
      notAfter: now + hour,
      random: systemRandom,
    })
    await assert.rejects(whoWith({ certificateAuthority }), { code: 'API_UNREACHABLE' })
  })
})
