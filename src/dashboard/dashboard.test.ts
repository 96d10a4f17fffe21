import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '../kube/types.ts'
import { sessionLife } from './access/sessions.ts'
import { host, onShownCluster } from './testing/shown-cluster.ts'

const viewer = [
  {
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests'],
    verbs: ['get', 'list', 'watch'],
  },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
]

test(
  'a link that is made with a credential opens a session in its name, once',
  onShownCluster(async ({ call, peerOf }) => {
    const link = await call('links', { order: {}, peer: await peerOf('jane', 'ops') })
    assert.equal(link.status, 201)
    assert.match(String(link.body.url), new RegExp(`^http://${host}/dashboard/#key=[\\w-]{43}$`))
    const key = String(link.body.url).split('#key=')[1]
    const opened = await call('sessions', { order: { key } })
    assert.deepEqual([opened.status, opened.body.user], [200, 'jane'])
    const me = await call('me', { token: String(opened.body.token) })
    assert.deepEqual([me.body.user, me.body.groups], ['jane', ['ops', 'system:authenticated']])
    assert.equal((await call('sessions', { order: { key } })).status, 401)
    const another = await call('links', { order: {}, token: String(opened.body.token) })
    assert.equal(another.status, 403, 'a session makes no links')
  }),
)

test(
  'nobody sees anything without a credential',
  onShownCluster(async ({ call }) => {
    for (const path of ['me', 'fleet', 'nodes/a', 'requests/a', 'rotations', 'doctor', 'decisions'])
      assert.equal((await call(path)).status, 401, path)
    for (const path of ['links', 'requests/a/approve', 'requests/a/deny', 'session/renew'])
      assert.equal((await call(path, { order: { uid: 'x', reason: 'y' } })).status, 401, path)
    assert.equal((await call('me', { token: 'rcs_guessed' })).status, 401)
    assert.equal((await call('me', { token: 'eyJ.guessed.token' })).status, 401)
  }),
)

test(
  'a session ends when its time is over, or when the credential behind it is good for nothing any more',
  onShownCluster(async ({ call, login, peerOf, clock, ca }) => {
    const token = await login('jane')
    clock.step(sessionLife)
    assert.equal((await call('me', { token })).status, 401)
    clock.step(ca.certificate.notAfter - clock.now() - 60_000)
    const { body } = await call('links', { order: {}, peer: await peerOf('jane') })
    const opened = await call('sessions', { order: { key: String(body.url).split('#key=')[1] } })
    assert.equal(opened.status, 200)
    clock.step(120_000)
    assert.equal(
      (await call('me', { token: String(opened.body.token) })).status,
      401,
      'its certificate ended',
    )
  }),
)

test(
  'a session opens the dashboard only: to the API its token is nobody',
  onShownCluster(async ({ api, login }) => {
    const token = await login('admin', 'system:masters')
    const headers = { authorization: `Bearer ${token}` }
    const { status } = await api.handle(
      { method: 'GET', url: '/api/v1/nodes', headers },
      { remoteAddress: '127.0.0.1' },
    )
    assert.equal(status, 401)
  }),
)

test(
  'who may not list nodes and requests sees neither them nor what was decided',
  onShownCluster(async ({ call, login, grant, ask, bootstrapper }) => {
    await ask({ by: bootstrapper, node: 'a' })
    const token = await login('nobody-special')
    for (const path of ['fleet', 'nodes/a', 'requests/csr-1', 'rotations', 'decisions'])
      assert.equal((await call(path, { token })).status, 403, path)
    await grant('half', viewer.slice(1))
    const half = await call('fleet', { token: await login('half') })
    assert.equal(half.status, 403)
    assert.match(half.text, /may not list certificatesigningrequests/)
    await grant('jane', viewer)
    assert.equal((await call('fleet', { token: await login('jane') })).status, 200)
  }),
)

test(
  'a viewer sees why a request waits, but may not decide it; the API itself refuses',
  onShownCluster(async ({ call, login, grant, ask, bootstrapper, fate }) => {
    const name = await ask({ by: bootstrapper, node: 'a' })
    await grant('jane', viewer)
    const token = await login('jane')
    const { body } = await call(`requests/${name}`, { token })
    assert.equal(body.mayDecide, false)
    for (const verdict of ['approve', 'deny']) {
      const order = { uid: body.uid, reason: 'because' }
      const refused = await call(`requests/${name}/${verdict}`, { token, order })
      assert.equal(refused.status, 403)
      assert.match(refused.text, /cannot update resource/)
    }
    assert.equal(await fate(name), 'pending')
  }),
)

test(
  'an administrator denies with a reason, in his own name',
  onShownCluster(async ({ call, login, ask, bootstrapper, read }) => {
    const name = await ask({ by: bootstrapper, node: 'a' })
    const token = await login('admin', 'system:masters')
    const { body } = await call(`requests/${name}`, { token })
    assert.equal(body.mayDecide, true)
    const deny = (order: unknown) => call(`requests/${name}/deny`, { token, order })
    assert.equal((await deny({ uid: body.uid, reason: ' ' })).status, 400)
    assert.equal((await deny({ uid: 'of another', reason: 'not ours' })).status, 409)
    assert.deepEqual((await deny({ uid: body.uid, reason: 'not ours' })).body, { outcome: 'write' })
    const { status } = await read(name)
    const [condition] = status?.conditions ?? []
    assert.deepEqual([condition?.type, condition?.reason], ['Denied', 'DeniedByOperator'])
    assert.match(condition?.message ?? '', /not ours/)
    assert.match(
      (await call(`requests/${name}/approve`, { token, order: { uid: body.uid } })).text,
      /already Denied/,
    )
  }),
)

test(
  'a name that nothing proves is approved only by somebody who vouches for it, with a reason',
  onShownCluster(async ({ call, login, ask, node, register, fate }) => {
    await register('a', [['InternalIP', '10.0.0.1']])
    const name = await ask({ by: await node('a'), node: 'a', ips: ['10.0.0.1', '10.9.9.9'] })
    const token = await login('admin', 'system:masters')
    const { body } = await call(`requests/${name}`, { token })
    const proofs = (body.claims as { shown: string; evidence?: string }[]).map(
      ({ shown, evidence }) => [shown, evidence !== undefined] as const,
    )
    assert.deepEqual(proofs, [
      ['IP 10.0.0.1', true],
      ['IP 10.9.9.9', false],
    ])
    const approve = (order: object) =>
      call(`requests/${name}/approve`, { token, order: { uid: body.uid, ...order } })
    const plain = await approve({ reason: 'it is fine' })
    assert.equal(plain.status, 422)
    assert.match(plain.text, /nothing proves IP 10\.9\.9\.9/)
    assert.equal((await approve({ acceptUnproven: true })).status, 400)
    assert.equal(await fate(name), 'pending')
    assert.equal((await approve({ acceptUnproven: true, reason: 'second card' })).status, 200)
    assert.equal(await fate(name), 'Approved ApprovedByOperator')
  }),
)

test(
  'an order that a form of another page could send is none',
  onShownCluster(async ({ call, login, ask, bootstrapper, fate }) => {
    const name = await ask({ by: bootstrapper, node: 'a' })
    const token = await login('admin', 'system:masters')
    const { body } = await call(`requests/${name}`, { token })
    const order = { uid: body.uid, reason: 'x' }
    const path = `requests/${name}/deny`
    const as = (headers: Record<string, string>) => call(path, { token, order, headers })
    assert.equal((await as({ 'content-type': 'text/plain' })).status, 400)
    assert.equal((await as({ origin: 'http://evil.example' })).status, 403)
    assert.equal((await as({ 'sec-fetch-site': 'cross-site' })).status, 403)
    assert.equal((await as({ host: 'evil.example' })).status, 421)
    assert.equal(await fate(name), 'pending')
  }),
)

test(
  'every answer forbids foreign script, frames and referrers',
  onShownCluster(async ({ call, login }) => {
    const token = await login('admin', 'system:masters')
    const answers = await Promise.all([
      call('/dashboard/'),
      call('/dashboard'),
      call('/dashboard/app/main.js'),
      call('/dashboard/nothing'),
      call('/dashboard/', { method: 'POST' }),
      call('/dashboard/', { headers: { host: 'evil.example' } }),
      call('/dashboard/', { headers: { origin: 'null' } }),
      call('me'),
      call('nothing', { token }),
      call('fleet', { token }),
      call('doctor', { token }),
      call('nodes/nothing', { token }),
      call('requests/nothing', { token }),
      call('sessions', { order: 'no object' }),
    ])
    assert.equal(new Set(answers.map(({ status }) => status)).size > 6, true)
    for (const { headers, status } of answers) {
      assert.match(
        headers['content-security-policy'] ?? '',
        /^default-src 'none'; .*frame-ancestors 'none'/,
        `${status}`,
      )
      assert.equal(headers['x-frame-options'], 'DENY')
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['cache-control'], 'no-store')
      assert.equal(headers['access-control-allow-origin'], undefined)
    }
  }),
)

test(
  'the latest decisions are told from the log, and lines that were changed are counted',
  onShownCluster(async ({ call, login, start, register, ask, node, bootstrapper, disk }) => {
    await register('a', [['InternalIP', '10.0.0.1']])
    await start({ decisionLog: { path: '/d/decisions.log', disk } })
    await ask({ by: bootstrapper, node: 'a' })
    await ask({ by: await node('a'), node: 'a', ips: ['10.0.0.1'] })
    const token = await login('admin', 'system:masters')
    const told = async () => (await call('decisions', { token })).body as never as Told
    const { decisions, kept } = await told()
    assert.equal(kept, true)
    assert.deepEqual(
      decisions.map(({ outcome, node, sans }) => [outcome, node, sans.map(({ name }) => name)]),
      [
        ['Approve', 'a', ['10.0.0.1']],
        ['Approve', 'a', []],
      ],
    )
    const text = (disk.files.get('/d/decisions.log') ?? '').toString()
    disk.files.set('/d/decisions.log', Buffer.from(text.replace('"10.0.0.1"', '"10.0.0.2"')))
    assert.deepEqual([(await told()).broken, (await told()).decisions.length], [1, 1])
  }),
)

interface Told {
  kept: boolean
  broken: number
  decisions: { outcome: string; node: string; sans: { name: string }[] }[]
}

test(
  'the rollover board shows rotations where the kinds are served',
  onShownCluster(async ({ call, login, admin }) => {
    const token = await login('admin', 'system:masters')
    const rotation = {
      apiVersion: 'rollcall.dev/v1alpha1',
      kind: 'CARotation',
      metadata: { name: 'serving-2' },
      spec: { role: 'kubelet-serving', reason: 'Scheduled', from: 1, to: 2, author: 'admin' },
    }
    const { caRotation } = await import('../kube/rollcall/ca-rotation.ts')
    await admin.create(caRotation.ref, rotation)
    const { body } = await call('rotations', { token })
    assert.equal(body.served, true)
    const [shown] = body.rotations as { name: string; phase: string; to: number }[]
    assert.deepEqual([shown?.name, shown?.to], ['serving-2', 2])
    const way = body.way as string[]
    assert.deepEqual([way[0], way.at(-1), way.includes('Aborted')], ['Preflight', 'Done', false])
  }),
)

test(
  'a node that is gone is said to be, and names with odd characters are only names',
  onShownCluster(async ({ call, login, admin, register }) => {
    const token = await login('admin', 'system:masters')
    assert.equal((await call('nodes/a', { token })).status, 404)
    await register('a', [['InternalIP', '10.0.0.1']])
    assert.deepEqual((await call('nodes/a', { token })).body.addresses, [
      { type: 'InternalIP', address: '10.0.0.1' },
    ])
    await admin.delete(resources.nodes, { name: 'a' })
    assert.equal((await call('nodes/a', { token })).status, 404)
    for (const name of ['..%2f..%2fsecrets', '%00', '%E0%A4%A', '<script>'])
      assert.ok([400, 404, 500].includes((await call(`nodes/${name}`, { token })).status), name)
  }),
)
