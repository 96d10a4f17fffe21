import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { ControlPlane } from '../src/cluster/control-plane.ts'
import type { KeyPair } from '../src/cluster/issue-pair.ts'
import {
  type FalseKubelet,
  falseKubelet,
  foreignAuthority,
  kubeletPair,
  plainKubelet,
} from './support/false-kubelet.ts'
import { freePort } from './support/free-port.ts'
import { type Kubectl, noKubectl, noOldKubectl, oldKubectl } from './support/kubectl.ts'
import { type ControlPlaneOnly, startControlPlaneOnly } from './support/node-cluster.ts'

// What kubectl prints for a kubelet whose serving certificate is not as it should be: the sentences of kube-apiserver 1.36
// with --kubelet-certificate-authority.

let started: ControlPlaneOnly | undefined
const cluster = () => started ?? assert.fail('the cluster is started before the first test')
const controlPlane = (): ControlPlane => cluster().controlPlane
const kubectl = (program = 'kubectl'): Kubectl => cluster().kubectl({ program })
const skip = noKubectl
const host = '127.0.8.1'
const logsPath = 'containerLogs/default/p/c'

before(async () => {
  if (skip) return
  started = await startControlPlaneOnly()
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

/** The Node says that its kubelet is here. */
async function pointTo(port: number, addresses = [{ type: 'InternalIP', address: host }]): Promise<void> {
  const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } }
  const patch = JSON.stringify({ status })
  await kubectl().ok(['patch', 'node', 'node-b', '--subresource=status', '--type=merge', '-p', patch])
}

async function kubelet(t: TestContext, pair: KeyPair | undefined): Promise<FalseKubelet> {
  const running = await falseKubelet(pair, (_, response) => response.end('a line\n'))
  t.after(() => running.close())
  await pointTo(running.port)
  return running
}

/** The three ways to a kubelet, and the sentence that each begins with. */
async function assertRefused(port: number, why: string): Promise<void> {
  const [logs, exec, proxy] = await Promise.all([
    kubectl().fails('logs p'),
    kubectl().fails('exec p -- ls'),
    kubectl().fails('get --raw /api/v1/nodes/node-b/proxy/healthz'),
  ])
  assert.equal(logs, `Error from server: Get "https://${host}:${port}/${logsPath}": ${why}\n`)
  assert.equal(exec, `Error from server: error dialing backend: ${why}\n`)
  assert.equal(proxy, `Error from server (ServiceUnavailable): error trying to reach service: ${why}\n`)
}

describe('kubectl and the serving certificates of kubelets', () => {
  test('H-4: a kubelet is reached by address and port of its Node, with the client certificate of the API server', {
    skip,
  }, async t => {
    const callers: string[] = []
    const running = await falseKubelet(await kubeletPair(controlPlane()), (request, response) => {
      const { subject } = (request.socket as import('node:tls').TLSSocket).getPeerCertificate()
      callers.push(
        `${request.method} ${request.url} ${subject.CN} ${request.headers.authorization ?? 'no token'}`,
      )
      response.end('a line\n')
    })
    t.after(() => running.close())
    await pointTo(running.port, [
      { type: 'Hostname', address: 'no-such-host.invalid' },
      { type: 'InternalIP', address: host },
    ])
    assert.equal(await kubectl().ok('logs p --tail=3 --since=5m --timestamps'), 'a line\n')
    assert.deepEqual(callers, [
      `GET /${logsPath}?sinceSeconds=300&tailLines=3&timestamps=true kube-apiserver-kubelet-client no token`,
    ])
    await pointTo(running.port, [{ type: 'ExternalDNS', address: 'elsewhere.invalid' }])
    assert.equal(
      await kubectl().fails('logs p'),
      'Error from server: no preferred addresses found; known addresses: [{ExternalDNS elsewhere.invalid}]\n',
    )
  })

  test('H-5: without a serving certificate the alert is told, and skipping verification does not help', {
    skip,
  }, async t => {
    const { port } = await kubelet(t, undefined)
    await assertRefused(port, 'remote error: tls: internal error')
    assert.equal(
      await kubectl().fails('logs p --insecure-skip-tls-verify-backend'),
      `Error from server: Get "https://${host}:${port}/${logsPath}": remote error: tls: internal error\n`,
    )
  })

  test('H-5: kubectl 1.20 prints the same', { skip: skip || noOldKubectl }, async t => {
    const { port } = await kubelet(t, undefined)
    assert.equal(
      await kubectl(oldKubectl).fails('logs p'),
      `Error from server: Get "https://${host}:${port}/${logsPath}": remote error: tls: internal error\n`,
    )
    assert.equal(
      await kubectl(oldKubectl).fails('exec p -- ls'),
      'Error from server: error dialing backend: remote error: tls: internal error\n',
    )
  })

  test('H-6: a certificate of an unknown authority', { skip }, async t => {
    const other = await foreignAuthority('somebody')
    const { port } = await kubelet(t, await kubeletPair(controlPlane(), {}, other))
    await assertRefused(
      port,
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    )
    assert.equal(await kubectl().ok('logs p --insecure-skip-tls-verify-backend'), 'a line\n')
  })

  test('H-6: an authority of the same name with another key is told as the reason', { skip }, async t => {
    const other = await foreignAuthority('kubernetes')
    const { port } = await kubelet(t, await kubeletPair(controlPlane(), {}, other))
    await assertRefused(
      port,
      'tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority certificate "kubernetes")',
    )
  })

  test('H-6: a certificate for other addresses, for names alone, and of another node', { skip }, async t => {
    const failed = 'tls: failed to verify certificate: x509:'
    const other = await kubelet(
      t,
      await kubeletPair(controlPlane(), { ipAddresses: ['10.0.0.8', '10.0.0.9'] }),
    )
    await assertRefused(other.port, `${failed} certificate is valid for 10.0.0.8, 10.0.0.9, not ${host}`)
    const names = await kubelet(
      t,
      await kubeletPair(controlPlane(), { ipAddresses: [], dnsNames: ['node-b'] }),
    )
    await assertRefused(
      names.port,
      `${failed} cannot validate certificate for ${host} because it doesn't contain any IP SANs`,
    )
    const stolen = await kubelet(t, await kubeletPair(controlPlane(), { commonName: 'system:node:node-c' }))
    await assertRefused(
      stolen.port,
      `${failed} certificate is for "system:node:node-c", not "system:node:node-b"`,
    )
  })

  test('H-6: the name is judged before the chain, and validity before both', { skip }, async t => {
    const other = await foreignAuthority('somebody')
    const wrongName = await kubelet(
      t,
      await kubeletPair(controlPlane(), { ipAddresses: ['10.0.0.8'] }, other),
    )
    await assertRefused(
      wrongName.port,
      `tls: failed to verify certificate: x509: certificate is valid for 10.0.0.8, not ${host}`,
    )
    const hour = 3_600_000
    const past = Math.floor(Date.now() / 1000) * 1000 - 2 * hour
    const expired = await kubelet(
      t,
      await kubeletPair(controlPlane(), { now: past, lifetime: hour, ipAddresses: ['10.0.0.8'] }),
    )
    const text = await kubectl().fails('logs p')
    const notAfter = new Date(past + hour).toISOString().replace('.000Z', 'Z')
    const start = `Error from server: Get "https://${host}:${expired.port}/${logsPath}": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time `
    assert.ok(text.startsWith(start), text)
    assert.match(text.slice(start.length), new RegExp(`^\\S+Z is after ${notAfter}\\n$`))
  })

  test('a certificate that is not for servers', { skip }, async t => {
    const { port } = await kubelet(t, await kubeletPair(controlPlane(), { usage: 'client auth' }))
    await assertRefused(
      port,
      'tls: failed to verify certificate: x509: certificate specifies an incompatible key usage',
    )
  })

  test('nobody listens, or somebody who speaks no TLS', { skip }, async t => {
    const port = await freePort()
    await pointTo(port)
    await assertRefused(port, `dial tcp ${host}:${port}: connect: connection refused`)
    const plain = await plainKubelet((_, response) => response.end())
    t.after(() => plain.close())
    await pointTo(plain.port)
    assert.match(await kubectl().fails('logs p'), /: tls: first record does not look like a TLS handshake\n$/)
  })

  test('H-7: failures of verification are counted, a missing certificate is not', { skip }, async t => {
    const count = async (name: string) => {
      const metrics = await kubectl().ok('get --raw /metrics')
      return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0)
    }
    const failures = 'kube_apiserver_pod_logs_backend_tls_failure_total'
    const skipped = 'kube_apiserver_pod_logs_insecure_backend_total{usage="skip_tls_allowed"}'.replace(
      /[{}]/g,
      '\\$&',
    )
    const before = [await count(failures), await count(skipped)]
    await kubelet(t, undefined)
    await kubectl().fails('logs p')
    assert.equal(await count(failures), before[0])
    await kubelet(t, await kubeletPair(controlPlane(), { ipAddresses: ['10.0.0.8'] }))
    await kubectl().fails('logs p')
    await kubectl().ok('logs p --insecure-skip-tls-verify-backend')
    assert.deepEqual(
      [await count(failures), await count(skipped)],
      [(before[0] ?? 0) + 1, (before[1] ?? 0) + 1],
    )
  })

  test('a refusal of the kubelet comes through in the words of kube-apiserver', { skip }, async t => {
    const answers: [number, string, string][] = [
      [
        401,
        'Unauthorized',
        'error: You must be logged in to the server (the server has asked for the client to provide credentials ( pods/log p))',
      ],
      [
        403,
        'Forbidden (user=kube-apiserver-kubelet-client, verb=get, resource=nodes, subresource(s)=[proxy])',
        'Error from server (Forbidden): Forbidden (user=kube-apiserver-kubelet-client, verb=get, resource=nodes, subresource(s)=[proxy]) ( pods/log p)',
      ],
      [
        404,
        'pod "p" does not exist',
        'Error from server (NotFound): the server could not find the requested resource ( pods/log p)',
      ],
      [
        400,
        'container "c" in pod "p" is waiting to start: ContainerCreating',
        'Error from server (BadRequest): container "c" in pod "p" is waiting to start: ContainerCreating',
      ],
      [
        500,
        'Authorization error (user=u)',
        'Error from server (InternalError): Internal error occurred: Authorization error (user=u)',
      ],
    ]
    let next = 0
    const running = await falseKubelet(await kubeletPair(controlPlane()), (_, response) => {
      const [status = 500, text = ''] = answers[next] ?? []
      response.writeHead(status).end(text)
    })
    t.after(() => running.close())
    await pointTo(running.port)
    for (const [index, [, , printed]] of answers.entries()) {
      next = index
      assert.equal(await kubectl().fails('logs p'), `${printed}\n`)
    }
  })
})
