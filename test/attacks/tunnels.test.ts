import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { after, before, describe, type TestContext, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { type FalseKubelet, falseKubelet, foreignAuthority, kubeletPair } from '../support/false-kubelet.ts'
import { noKubectl } from '../support/kubectl.ts'
import { type NodeCluster, startNodeCluster } from '../support/node-cluster.ts'

// Three attackers: a user who may do a little and wants more, a kubelet that wants to use the API server, and somebody
// on the node's network who speaks with the node's server himself.

const notRoot = process.getuid?.() === 0 ? false : 'pods as processes of their own need root'
const skip = noKubectl || notRoot

let started: NodeCluster | undefined
const cluster = (): NodeCluster => started ?? assert.fail('the cluster is started before the first test')
const kubectl = () => cluster().kubectl()

const exec = '/api/v1/namespaces/default/pods/p/exec?command=id&stdout=true'
const websocket = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Protocol': 'v5.channel.k8s.io',
}

/** A service account's token that may do these things. */
async function tokenOf(name: string, rules: object[], clusterRules: object[] = []): Promise<string> {
  const subject = { kind: 'ServiceAccount', name, namespace: 'default' }
  const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })
  const rbac = (kind: string, more: object) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name, ...(kind.startsWith('Cluster') ? {} : { namespace: 'default' }) },
    ...more,
  })
  await kubectl().ok('create -f -', [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'default' } },
    rbac('Role', { rules }),
    rbac('RoleBinding', { subjects: [subject], roleRef: roleRef('Role') }),
    rbac('ClusterRole', { rules: clusterRules }),
    rbac('ClusterRoleBinding', { subjects: [subject], roleRef: roleRef('ClusterRole') }),
  ])
  return (await kubectl().ok(`create token ${name}`)).trim()
}

/** Sends these bytes to the API server and gives all that it says until it closes. */
async function say(text: string): Promise<string> {
  const { server } = cluster().controlPlane
  const { hostname: host, port } = new URL(server)
  const socket: TLSSocket = connect({
    host,
    port: Number(port),
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  })
  await once(socket, 'secureConnect')
  let heard = ''
  socket.setEncoding('utf8').on('data', chunk => {
    heard += chunk
  })
  socket.on('error', () => {})
  socket.write(text)
  await once(socket, 'close')
  return heard
}

const head = (method: string, path: string, headers: Record<string, string>) =>
  `${method} ${path} HTTP/1.1\r\nHost: api\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

const asUser = (token: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  say(head(method, path, { Authorization: `Bearer ${token}`, Connection: 'close', ...headers }))

/** The Node `node-b` says that its kubelet is here. */
async function pointTo(port: number, address = '127.0.8.1'): Promise<void> {
  const status = {
    addresses: [{ type: 'InternalIP', address }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  }
  await kubectl().ok([
    'patch',
    'node',
    'node-b',
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  ])
}

async function kubelet(t: TestContext, handler: Parameters<typeof falseKubelet>[1]): Promise<FalseKubelet> {
  const running = await falseKubelet(await kubeletPair(cluster().controlPlane), handler)
  t.after(() => running.close())
  await pointTo(running.port)
  return running
}

const pods = (verbs: string[], ...resources: string[]) => ({ apiGroups: [''], resources, verbs })

before(async () => {
  if (skip) return
  started = await startNodeCluster()
  await cluster().run({ name: 'web', script: 'while :; do sleep 1; done' })
  await kubectl().ok('create -f -', [
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-b' } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'default' },
      spec: { nodeName: 'node-b', containers: [{ name: 'c', image: 'host' }] },
    },
  ])
})
after(() => started?.stop())

describe('attacks on the tunnels', { skip }, () => {
  test('who may get pods/exec alone runs nothing, by WebSocket neither; who may read logs only reads logs', async t => {
    await kubelet(t, (_, response) => response.end('a line\n'))
    const getter = await tokenOf('getter', [
      pods(['get'], 'pods/exec', 'pods/attach', 'pods/portforward', 'pods/log'),
    ])
    for (const [path, resource] of [
      [exec, 'pods/exec'],
      ['/api/v1/namespaces/default/pods/p/attach?stdout=true', 'pods/attach'],
      ['/api/v1/namespaces/default/pods/p/portforward', 'pods/portforward'],
    ] as const) {
      const answer = await asUser(getter, path, websocket)
      assert.match(answer, /^HTTP\/1\.1 403 Forbidden\r\n/)
      assert.ok(answer.includes(`cannot create resource \\"${resource}\\"`), answer)
    }
    assert.match(
      await asUser(getter, '/api/v1/namespaces/default/pods/p/log'),
      /^HTTP\/1\.1 200 OK[\s\S]*a line/,
    )
    assert.match(
      await asUser(getter, '/api/v1/nodes/node-b/proxy/containerLogs/default/p/c'),
      /^HTTP\/1\.1 403/,
    )
  })

  test('who may get nodes/proxy alone opens no stream through it', async t => {
    await kubelet(t, (_, response) => response.end('ok'))
    const monitor = await tokenOf('monitor', [], [pods(['get'], 'nodes/proxy')])
    assert.match(await asUser(monitor, '/api/v1/nodes/node-b/proxy/metrics'), /^HTTP\/1\.1 200 OK[\s\S]*ok/)
    const answer = await asUser(
      monitor,
      '/api/v1/nodes/node-b/proxy/exec/default/p/c?command=id&output=1',
      websocket,
    )
    assert.match(answer, /^HTTP\/1\.1 403[\s\S]*cannot create resource \\"nodes\/proxy\\"/)
  })

  test('a Node that names the API server as its kubelet lends nobody the rights by which kubelets are asked', async () => {
    const { hostname, port } = new URL(cluster().controlPlane.server)
    await pointTo(Number(port), hostname)
    const monitor = await tokenOf('deputy', [], [pods(['get'], 'nodes/proxy')])
    const answer = await asUser(monitor, '/api/v1/nodes/node-b/proxy/api/v1/namespaces/kube-system/secrets')
    assert.match(answer, /^HTTP\/1\.1 503[\s\S]*certificate is for \\"kube-apiserver\\"/)
    const asDeputy = '--as=kube-apiserver-kubelet-client --as-group=rollcall:kubelet-clients'
    assert.equal(await kubectl().fails(`auth can-i list secrets -n kube-system ${asDeputy}`), '')
  })

  test('a kubelet sees neither the token of the user nor any header that names him or the way', async t => {
    const seen: Record<string, unknown>[] = []
    await kubelet(t, (request, response) => {
      seen.push(request.headers)
      response.writeHead(400).end()
    })
    const user = await tokenOf(
      'careless',
      [pods(['get', 'create'], 'pods/exec', 'pods/log')],
      [pods(['get'], 'nodes/proxy')],
    )
    const secrets = {
      Cookie: 'session=1',
      'X-Forwarded-For': '10.0.0.1',
      'X-Remote-User': 'admin',
      'X-Secret': '1',
    }
    await asUser(user, exec, { ...secrets, ...websocket })
    await asUser(user, '/api/v1/namespaces/default/pods/p/log', secrets)
    await asUser(user, '/api/v1/nodes/node-b/proxy/metrics', secrets)
    const names = seen.map(headers =>
      Object.keys(headers)
        .filter(name => !/^sec-websocket-/.test(name))
        .sort(),
    )
    assert.deepEqual(names, [
      ['connection', 'host', 'upgrade'],
      ['connection', 'host'],
      ['connection', 'host'],
    ])
  })

  test('what is sent behind a request for an upgrade is no request, and one with a body is refused', async t => {
    const urls: string[] = []
    await kubelet(t, (request, response) => {
      urls.push(request.url ?? '')
      response.writeHead(403).end('no')
    })
    const user = await tokenOf('smuggler', [pods(['get', 'create'], 'pods/exec')])
    const authorization = { Authorization: `Bearer ${user}` }
    const second = head('GET', '/api/v1/namespaces/kube-system/secrets', authorization)
    const refused = await say(head('GET', exec, { ...authorization, ...websocket }) + second)
    assert.match(refused, /^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*connection: close\r\n/i)
    assert.equal(refused.match(/HTTP\/1\.1/g)?.length, 1)
    assert.deepEqual(urls, ['/exec/default/p/c?command=id&output=1'])
    for (const more of [{ 'Content-Length': '5' }, { 'Transfer-Encoding': 'chunked' }]) {
      const answer = await say(
        `${head('POST', exec, { ...authorization, ...websocket, ...more })}0\r\n\r\n${second}`,
      )
      assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/)
      assert.equal(answer.match(/HTTP\/1\.1/g)?.length, 1)
    }
    assert.equal(urls.length, 1)
  })

  test('a kubelet that redirects the API server leads it nowhere', async t => {
    let reached = 0
    const elsewhere = await falseKubelet(await kubeletPair(cluster().controlPlane), (_, response) => {
      reached++
      response.end('secret')
    })
    t.after(() => elsewhere.close())
    const target = `https://127.0.8.1:${elsewhere.port}/api/v1/secrets`
    await kubelet(t, (_, response) => response.writeHead(307, { location: target }).end())
    assert.equal(await kubectl().fails('logs p'), `Error from server: Get "${target}": redirects forbidden\n`)
    assert.match(await kubectl().fails('exec p -- ls'), /invalid upgrade response: status code 307/)
    const admin = await tokenOf('redirected', [], [pods(['get'], 'nodes/proxy')])
    const answer = await asUser(admin, '/api/v1/nodes/node-b/proxy/logs')
    assert.match(answer, /^HTTP\/1\.1 307/)
    assert.doesNotMatch(answer, /location/i)
    assert.equal(reached, 0)
  })

  test('a kubelet that answers an upgrade with another protocol, or with headers of its own, changes nothing else', async t => {
    const running = await falseKubelet(await kubeletPair(cluster().controlPlane), () => {})
    t.after(() => running.close())
    await pointTo(running.port)
    running.server?.on('upgrade', (_, socket) => {
      socket.end(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nSet-Cookie: a=b\r\nLocation: https://evil.example\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\nhello',
      )
    })
    const user = await tokenOf('visitor', [pods(['get', 'create'], 'pods/exec')])
    assert.equal(
      await asUser(user, exec, websocket),
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\nhello',
    )
  })

  test('a kubelet whose refusal never ends, or whose headers do not, is cut off', async t => {
    await kubelet(t, (request, response) => {
      if (request.url?.startsWith('/containerLogs')) {
        response.writeHead(500)
        const flood = () =>
          response.destroyed ||
          (response.write('x'.repeat(65_536)) ? setImmediate(flood) : response.once('drain', flood))
        flood()
      } else response.writeHead(200, { 'x-flood': 'y'.repeat(100_000) }).end()
    })
    const text = await kubectl().fails('logs p')
    assert.ok(text.length > 50_000 && text.length < 51_000, `${text.length} characters`)
    assert.match(
      await kubectl().fails('get --raw /api/v1/nodes/node-b/proxy/metrics'),
      /error trying to reach service: malformed HTTP response/,
    )
  })

  test('a kubelet that upgrades what was no request for an upgrade is cut off', async t => {
    const running = await kubelet(t, (_, response) => {
      response.socket?.end(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nhello',
      )
    })
    assert.equal(
      await kubectl().fails('logs p'),
      `Error from server: Get "https://127.0.8.1:${running.port}/containerLogs/default/p/c": malformed HTTP response: an upgrade that nobody asked for\n`,
    )
    assert.match(
      await kubectl().fails('get --raw /api/v1/nodes/node-b/proxy/pods'),
      /error trying to reach service: malformed HTTP response/,
    )
  })

  test('a kubelet that answers with a status that is none, or without a body, breaks nothing', async t => {
    let status = 204
    await kubelet(t, (_, response) => response.writeHead(status).end())
    const admin = await tokenOf('patient', [], [pods(['get'], 'nodes/proxy')])
    assert.match(await asUser(admin, '/api/v1/nodes/node-b/proxy/a'), /^HTTP\/1\.1 204 No Content\r\n/)
    status = 999
    assert.match(await asUser(admin, '/api/v1/nodes/node-b/proxy/a'), /^HTTP\/1\.1 502 Bad Gateway\r\n/)
  })

  test('names with dots and slashes in them lead nowhere', async () => {
    const admin = await tokenOf('traveller', [pods(['*'], '*')], [pods(['*'], '*')])
    for (const [path, status] of [
      ['/api/v1/namespaces/default/pods/..%2f..%2fnodes/log', 404],
      ['/api/v1/namespaces/default/pods/%2e%2e/log', 404],
      ['/api/v1/namespaces/default/pods/p/log?container=..%2f..%2fexec', 400],
      ['/api/v1/namespaces/default/pods/p/log/../exec', 404],
      ['/api/v1/nodes/node-a/proxy/..%2f..%2fetc/passwd', 400],
      ['/api/v1/nodes/node-a/proxy/containerLogs/default/web-node-a/..%2f..%2f..%2fetc%2fpasswd', 400],
      ['/api/v1/nodes/node-a:22/proxy/', 400],
      ['/api/v1/nodes/http:node-a:80/proxy/', 400],
    ] as const)
      assert.match(await asUser(admin, path), new RegExp(`^HTTP/1\\.1 ${status} `), path)
  })
})

describe('attacks on the server of a node', { skip }, () => {
  /** Straight to the node, past the API server. */
  function atNode(
    path: string,
    headers: Record<string, string> = {},
    more: object = {},
  ): Promise<{ status: number; text: string }> {
    const { port } = cluster().node.status()
    return new Promise((resolve, reject) => {
      const options = {
        host: '127.0.7.1',
        port,
        path,
        headers,
        rejectUnauthorized: false,
        agent: false,
        ...more,
      }
      const request = httpsRequest(options, response => {
        let text = ''
        response.setEncoding('utf8').on('data', chunk => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      request.on('upgrade', (response, socket) => {
        socket.destroy()
        resolve({ status: response.statusCode ?? 0, text: '' })
      })
      request.on('error', reject)
      request.end()
    })
  }

  const run = '/exec/default/web-node-a/main?command=id&output=1'

  test('H-2: nobody is anonymous; a token is good for what the API allows it; a certificate of another CA for nothing', async () => {
    for (const path of ['/healthz', '/pods', '/containerLogs/default/web-node-a/main', run, '/nowhere'])
      assert.deepEqual(await atNode(path), { status: 401, text: 'Unauthorized' }, path)
    assert.equal((await atNode('/healthz', { authorization: 'Bearer nonsense' })).status, 401)
    const token = await tokenOf('scraper', [], [pods(['get'], 'nodes/metrics', 'nodes/proxy')])
    const bearer = { authorization: `Bearer ${token}` }
    assert.equal((await atNode('/metrics', bearer)).status, 200)
    assert.equal((await atNode('/containerLogs/default/web-node-a/main', bearer)).status, 200)
    assert.deepEqual(await atNode(run, { ...bearer, ...websocket }), {
      status: 403,
      text: 'Forbidden (user=system:serviceaccount:default:scraper, verb=create, resource=nodes, subresource(s)=[proxy])',
    })
  })

  test('the API server, with its certificate, is let in, a forged one is not; paths that can be read in two ways are not', async () => {
    const pair = cluster().controlPlane.pki.apiserverKubeletClient
    const own = { cert: pair.certificate, key: pair.key.reveal() }
    const admin = {
      commonName: 'kubernetes-admin',
      organizations: ['system:masters'],
      usage: 'client auth' as const,
    }
    const forged = await kubeletPair(cluster().controlPlane, admin, await foreignAuthority('kubernetes'))
    const stranger = { cert: forged.certificate, key: forged.key.reveal() }
    assert.equal((await atNode(run, websocket, stranger)).status, 401)
    assert.equal((await atNode(run, websocket, own)).status, 101)
    for (const path of [
      '/pods/../exec/default/web-node-a/main',
      '//exec/default/web-node-a/main',
      '/exec/default/..%2fweb/main',
      '/%zz',
    ])
      assert.equal((await atNode(path, {}, own)).status, 400, path)
    for (const [path, status] of [
      ['/containerLogs/default/web-node-a/other', 404],
      ['/containerLogs/kube-system/web-node-a/main', 404],
      ['/containerLogs/default/web-node-a/main?tailLines=-1', 422],
      ['/run/default/web-node-a/main?cmd=id', 404],
    ] as const)
      assert.equal((await atNode(path, {}, own)).status, status, path)
  })
})
