/** TokenRequest, what the tokens open and when they stop to: against the whole API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transport } from '../kube/transport.ts'
import { type KubeObject, resources } from '../kube/types.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../testing/embedded-cluster.ts'
import { inProcessTransport } from './in-process-transport.ts'
import type { TokenRequest } from './resources/token-requests.ts'

const issuer = 'https://kubernetes.default.svc.cluster.local'
type Spec = NonNullable<TokenRequest['spec']>
type Answer = { status: number; body: Record<string, never> & { message?: string; status?: never } }

function inCluster(name: string, run: (tokens: Tokens) => Promise<void>): void {
  test(name, async () => {
    const cluster = await startEmbeddedCluster()
    try {
      await cluster.admin.create(resources.serviceAccounts, accountOf('robot'))
      await run(await tokensOf(cluster))
    } finally {
      await cluster.close()
    }
  })
}

const accountOf = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: 'default' },
})

const podOf = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'i' }], serviceAccountName: 'robot', ...spec },
})

interface Tokens {
  cluster: EmbeddedCluster
  /** POST to serviceaccounts/NAME/token. */
  ask(spec: Spec, by?: Transport, name?: string): Promise<Answer>
  token(spec?: Spec): Promise<string>
  /** GET of a path as the bearer of a token; the status. */
  statusWith(token: string, path?: string): Promise<number>
  /** status of a TokenReview. */
  review(token: string, audiences?: string[]): Promise<Record<string, unknown>>
  whoAmI(
    token: string,
  ): Promise<{ username: string; groups: string[]; uid: string; extra: Record<string, string[]> }>
}

async function post(transport: Transport, url: string, body: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const request = { method: 'POST', url, headers, body: Buffer.from(JSON.stringify(body)) }
  const response = await transport.request(request)
  return { status: response.status, body: JSON.parse(Buffer.from(response.body as Uint8Array).toString()) }
}

async function tokensOf(cluster: EmbeddedCluster): Promise<Tokens> {
  const admin = await cluster.transportAs('admin', 'system:masters')
  const bearer = (token: string) =>
    inProcessTransport(cluster.api, { remoteAddress: '127.0.0.1' }, { authorization: `Bearer ${token}` })
  const authentication = { apiVersion: 'authentication.k8s.io/v1' }
  const ask: Tokens['ask'] = (spec, by = admin, name = 'robot') =>
    post(by, `/api/v1/namespaces/default/serviceaccounts/${name}/token`, {
      ...authentication,
      kind: 'TokenRequest',
      spec,
    })
  return {
    cluster,
    ask,
    async token(spec = {}) {
      const { status, body } = await ask(spec)
      assert.equal(status, 201, JSON.stringify(body))
      return (body as unknown as TokenRequest).status?.token ?? ''
    },
    statusWith: async (token, url = '/api') =>
      (await bearer(token).request({ method: 'GET', url, headers: {} })).status,
    async review(token, audiences) {
      const spec = { token, ...(audiences && { audiences }) }
      const answer = await post(admin, '/apis/authentication.k8s.io/v1/tokenreviews', {
        ...authentication,
        kind: 'TokenReview',
        spec,
      })
      return (answer.body.status ?? {}) as Record<string, unknown>
    },
    async whoAmI(token) {
      const answer = await post(bearer(token), '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
        ...authentication,
        kind: 'SelfSubjectReview',
      })
      return (answer.body as unknown as { status: { userInfo: never } }).status.userInfo
    },
  }
}

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

inCluster(
  'A-2: a token is signed for the account, and stands for it with its credential id',
  async tokens => {
    const token = await tokens.token()
    const { metadata } = await tokens.cluster.admin.get(
      resources.serviceAccounts,
      accountOf('robot').metadata,
    )
    const claims = claimsOf(token)
    assert.deepEqual(
      { ...claims, jti: '' },
      {
        aud: [issuer],
        exp: claims.iat + 3600,
        iat: Math.floor(tokens.cluster.clock.now() / 1000),
        iss: issuer,
        jti: '',
        'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid: metadata.uid } },
        nbf: claims.iat,
        sub: 'system:serviceaccount:default:robot',
      },
    )
    assert.deepEqual(await tokens.whoAmI(token), {
      username: 'system:serviceaccount:default:robot',
      uid: metadata.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`] },
    })
  },
)

inCluster('A request says what it gave: name, audiences, lifetime and when it ends', async tokens => {
  const { body } = await tokens.ask({ audiences: ['vault'], expirationSeconds: 7200 })
  const { metadata, spec, status } = body as unknown as TokenRequest
  assert.deepEqual(metadata, {
    name: 'robot',
    namespace: 'default',
    creationTimestamp: '2026-03-01T12:00:00Z',
  })
  assert.deepEqual(spec, { audiences: ['vault'], expirationSeconds: 7200 })
  assert.equal(status?.expirationTimestamp, '2026-03-01T14:00:00Z')
})

inCluster('Ten minutes are the least, and what is asked for must be there', async tokens => {
  const refusal = async (spec: Spec, name?: string) => {
    const { status, body } = await tokens.ask(spec, undefined, name)
    return [status, body.message]
  }
  assert.deepEqual(await refusal({ expirationSeconds: 599 }), [
    422,
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
  ])
  assert.deepEqual(await refusal({}, 'nobody'), [404, 'serviceaccounts "nobody" not found'])
  const pod = { apiVersion: 'v1', kind: 'Pod', name: 'p' }
  assert.deepEqual(await refusal({ boundObjectRef: pod }), [404, 'pods "p" not found'])
  assert.deepEqual(await refusal({ boundObjectRef: { ...pod, apiVersion: 'apps/v1', kind: 'Deployment' } }), [
    400,
    'cannot bind token to object of type apps/v1, Kind=Deployment',
  ])
  await tokens.cluster.admin.create(resources.pods, podOf('p', { serviceAccountName: 'other' }))
  assert.deepEqual(await refusal({ boundObjectRef: pod }), [
    400,
    'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
  ])
})

inCluster('A token ends with its time, a minute late, and not before', async tokens => {
  const token = await tokens.token({ expirationSeconds: 600 })
  await tokens.cluster.clock.advance(660_000)
  assert.equal(await tokens.statusWith(token), 200)
  await tokens.cluster.clock.advance(1000)
  assert.equal(await tokens.statusWith(token), 401)
  assert.equal(
    (await tokens.review(token)).error,
    '[invalid bearer token, service account token has expired]',
  )
})

inCluster('A token ends with its account, also when one of the same name follows', async tokens => {
  const token = await tokens.token()
  const { admin } = tokens.cluster
  await admin.delete(resources.serviceAccounts, accountOf('robot').metadata)
  assert.equal(await tokens.statusWith(token), 401)
  await admin.create(resources.serviceAccounts, accountOf('robot'))
  assert.equal(await tokens.statusWith(token), 401)
  assert.match(String((await tokens.review(token)).error), /service account UID \(.+\) does not match claim/)
})

inCluster('A-2: a token bound to a pod names it and its node, and ends with the pod', async tokens => {
  const { admin } = tokens.cluster
  const node = await admin.create<KubeObject>(resources.nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1' },
  })
  const pod = await admin.create<KubeObject>(resources.pods, podOf('p', { nodeName: 'n1' }))
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'p' }
  const token = await tokens.token({ boundObjectRef })
  const { extra } = await tokens.whoAmI(token)
  assert.deepEqual(
    Object.fromEntries(Object.entries(extra).filter(([key]) => !key.endsWith('credential-id'))),
    {
      'authentication.kubernetes.io/node-name': ['n1'],
      'authentication.kubernetes.io/node-uid': [node.metadata.uid],
      'authentication.kubernetes.io/pod-name': ['p'],
      'authentication.kubernetes.io/pod-uid': [pod.metadata.uid],
    },
  )
  await admin.delete(resources.nodes, { name: 'n1' })
  assert.equal(await tokens.statusWith(token), 200)
  await admin.delete(resources.pods, pod.metadata)
  assert.equal(await tokens.statusWith(token), 401)
  assert.equal(
    (await tokens.review(token)).error,
    '[invalid bearer token, service account token has been invalidated]',
  )
})

inCluster('A token bound to a node or a Secret ends with it', async tokens => {
  const { admin } = tokens.cluster
  const objects: [KubeObject, typeof resources.nodes][] = [
    [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }, resources.nodes],
    [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'default' } }, resources.secrets],
  ]
  for (const [object, resource] of objects) {
    await admin.create(resource, object)
    const { kind } = object
    const boundObjectRef = { apiVersion: 'v1', kind, name: object.metadata.name }
    const token = await tokens.token({ boundObjectRef })
    assert.equal(await tokens.statusWith(token), 200)
    await admin.delete(resource, object.metadata)
    assert.equal(await tokens.statusWith(token), 401, kind)
    const other = await tokens.ask({ boundObjectRef: { ...boundObjectRef, uid: 'x' } })
    assert.equal(other.status, 404)
  }
})

inCluster("A pod's own token of 3607 seconds lives a year, and says when to warn", async tokens => {
  await tokens.cluster.admin.create(resources.pods, podOf('p', {}))
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'p' }
  const claims = claimsOf(await tokens.token({ boundObjectRef, expirationSeconds: 3607 }))
  assert.equal(claims.exp - claims.iat, 365 * 86_400)
  assert.equal(claims['kubernetes.io'].warnafter - claims.iat, 3607)
  const foreign = claimsOf(await tokens.token({ boundObjectRef, expirationSeconds: 3607, audiences: ['x'] }))
  assert.equal(foreign.exp - foreign.iat, 3607)
})

inCluster('A token for another audience opens that one, and not the API', async tokens => {
  const token = await tokens.token({ audiences: ['vault', 'mail'] })
  assert.equal(await tokens.statusWith(token), 401)
  const { authenticated, audiences, user } = await tokens.review(token, ['vault', 'x'])
  assert.deepEqual([authenticated, audiences], [true, ['vault']])
  assert.equal((user as { username: string }).username, 'system:serviceaccount:default:robot')
  assert.deepEqual(await tokens.review(token, ['x']), {
    user: {},
    error:
      '[invalid bearer token, token audiences ["vault" "mail"] is invalid for the target audiences ["x"]]',
  })
  const own = await tokens.review(await tokens.token())
  assert.deepEqual([own.authenticated, own.audiences], [true, [issuer]])
})

inCluster('A bootstrap token is meant for the API server alone', async tokens => {
  const bootstrap = 'abcdef.0123456789abcdef'
  assert.deepEqual((await tokens.review(bootstrap)).audiences, [issuer])
  assert.equal((await tokens.review(bootstrap, [issuer])).authenticated, true)
  assert.equal((await tokens.review(bootstrap, ['vault'])).error, 'invalid bearer token')
})

inCluster(
  'A token of another key, or changed by one character, is 401 and reviewed as invalid',
  async tokens => {
    const other = await startEmbeddedCluster()
    await other.admin.create(resources.serviceAccounts, accountOf('robot'))
    const foreign = await (await tokensOf(other)).token()
    await other.close()
    const own = await tokens.token()
    const changed = own.replace(/\.(.)/, (_match, letter) => `.${letter === 'e' ? 'f' : 'e'}`)
    for (const token of [foreign, changed, `${own}x`]) {
      assert.equal(await tokens.statusWith(token), 401)
      assert.match(String((await tokens.review(token)).error), /invalid bearer token/)
    }
  },
)

inCluster('What verifies tokens is published for service accounts', async tokens => {
  const token = await tokens.token()
  const robot = inProcessTransport(
    tokens.cluster.api,
    { remoteAddress: '127.0.0.1' },
    { authorization: `Bearer ${token}` },
  )
  const read = async (url: string) => {
    const { status, headers, body } = await robot.request({ method: 'GET', url, headers: {} })
    assert.equal(status, 200)
    return { type: headers['content-type'], json: JSON.parse(Buffer.from(body as Uint8Array).toString()) }
  }
  const configuration = await read('/.well-known/openid-configuration')
  assert.deepEqual(configuration.json, {
    issuer,
    jwks_uri: 'https://127.0.0.1:6443/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  })
  const { type, json } = await read('/openid/v1/jwks')
  assert.equal(type, 'application/jwk-set+json')
  const [key] = json.keys
  const { kid } = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
  assert.deepEqual(
    { ...key, x: '', y: '' },
    { use: 'sig', kty: 'EC', kid, crv: 'P-256', alg: 'ES256', x: '', y: '' },
  )
  const imported = await crypto.subtle.importKey('jwk', key, { name: 'ECDSA', namedCurve: 'P-256' }, false, [
    'verify',
  ])
  const [head, payload, signature = ''] = token.split('.')
  const verified = await crypto.subtle.verify(
    { name: 'ECDSA', hash: 'SHA-256' },
    imported,
    Buffer.from(signature, 'base64url'),
    Buffer.from(`${head}.${payload}`),
  )
  assert.ok(verified)
})

inCluster('A-53: a node gets tokens for pods that run on it, for audiences that they use', async tokens => {
  const { admin } = tokens.cluster
  const volumes = [
    { name: 't', projected: { sources: [{ serviceAccountToken: { path: 'a' } }] } },
    { name: 'u', projected: { sources: [{ serviceAccountToken: { path: 'b', audience: 'vault' } }] } },
    { name: 'v', csi: { driver: 'd.example.com' } },
  ]
  const pod = await admin.create<KubeObject>(resources.pods, podOf('p', { nodeName: 'n1', volumes }))
  await admin.create(resources.csiDrivers, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: 'd.example.com' },
    spec: { tokenRequests: [{ audience: 'disk' }] },
  } as KubeObject)
  const [one, two] = await Promise.all(
    ['n1', 'n2'].map(name => tokens.cluster.transportAs(`system:node:${name}`, 'system:nodes')),
  )
  const reference = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: pod.metadata.uid ?? '' }
  const { uid: _uid, ...withoutUid } = reference
  const asked = async (spec: Spec, by = one) => {
    const { status, body } = await tokens.ask(spec, by)
    return status === 201
      ? 'given'
      : (body.message ?? '').replace('serviceaccounts "robot" is forbidden: ', '')
  }
  for (const audiences of [[], ['vault'], ['disk']])
    assert.equal(await asked({ boundObjectRef: reference, audiences }), 'given')
  assert.equal(await asked({}), 'node requested token not bound to a pod')
  assert.equal(
    await asked({ boundObjectRef: withoutUid }),
    'node requested token with a pod binding without a uid',
  )
  assert.match(
    await asked({ boundObjectRef: { ...reference, uid: 'x' } }),
    /^the UID in the bound object reference/,
  )
  assert.equal(
    await asked({ boundObjectRef: reference, audiences: ['x'] }),
    'audience "x" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
  )
  assert.equal(
    await asked({ boundObjectRef: reference, audiences: ['vault', 'disk'] }),
    'node may only request 0 or 1 audiences',
  )
  assert.match(await asked({ boundObjectRef: reference }, two), /no relationship found between node 'n2'/)
})
