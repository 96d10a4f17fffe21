import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { clientOf } from '../src/cluster/demo/running-up.ts'
import { Secret } from '../src/keys/secret.ts'
import { listAll } from '../src/kube/client.ts'
import type { ConnectionConfig } from '../src/kube/transport.ts'
import { type CertificateSigningRequest, type KubeNode, resources, signerNames } from '../src/kube/types.ts'
import { connectUndici } from '../src/kube/undici-transport.ts'
import { heldPair, heldPairs } from './support/data-folder.ts'
import { openssl, opensslVerify } from './support/openssl.ts'
import { type RollcallProcess, startRollcall, temporaryFolder } from './support/rollcall-process.ts'

// openssl is a verifier that we did not write: what it accepts here, others accept.
const folder = temporaryFolder()
const nodes = ['worker-1', 'worker-2', 'worker-3']
const caFile = join(folder.path, 'pki/ca.crt')
let up: RollcallProcess
let admin: Awaited<ReturnType<typeof clientOf>>
let endpoints: { name: string; address: string; port: number }[]

before(async () => {
  up = startRollcall(['up', '--nodes', String(nodes.length), '--dir', folder.path, '--port', '0'])
  await up.ready
  admin = await clientOf(join(folder.path, 'admin.kubeconfig'))
  const { items } = await listAll<KubeNode>(admin.client, resources.nodes)
  endpoints = items.map(({ metadata, status }) => ({
    name: metadata.name,
    address: status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '',
    port: status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0,
  }))
})
after(async () => {
  admin?.transport.closeConnections()
  await up?.stop()
  folder.remove()
})

const read = (path: string) => readFileSync(join(folder.path, path), 'utf8')

function endpoint(name: string) {
  const found = endpoints.find(endpoint => endpoint.name === name)
  assert.ok(found, `no Node ${name}`)
  return found
}

test('openssl verify accepts every certificate that a request was answered with', async () => {
  const { items } = await listAll<CertificateSigningRequest>(
    admin.client,
    resources.certificateSigningRequests,
  )
  assert.equal(items.length, 2 * nodes.length)
  for (const { metadata, spec, status } of items) {
    const pem = Buffer.from(status?.certificate ?? '', 'base64').toString()
    const isClient = spec.signerName === signerNames.kubeletClient
    const { code, output } = await opensslVerify(pem, caFile, isClient ? 'sslclient' : 'sslserver')
    assert.equal(code, 0, `${metadata.name}: ${output}`)
    const other = await opensslVerify(pem, caFile, isClient ? 'sslserver' : 'sslclient')
    assert.notEqual(other.code, 0, `${metadata.name} is good for the other purpose too`)
  }
})

test("openssl verify accepts the pair in each node's folder, and its key belongs to it", async () => {
  const pairs = heldPairs(folder.path)
  assert.deepEqual([...new Set(pairs.map(({ node }) => node))], nodes)
  for (const { node, kind, pem } of pairs) {
    const purpose = kind === 'kubelet-client' ? 'sslclient' : 'sslserver'
    const { code, output } = await opensslVerify(pem, caFile, purpose)
    assert.equal(code, 0, `${node} ${kind}: ${output}`)
    const ofCertificate = await openssl(['x509', '-noout', '-pubkey'], pem)
    const ofKey = await openssl(['pkey', '-pubout'], pem)
    assert.match(ofKey.output, /BEGIN PUBLIC KEY/)
    assert.equal(ofCertificate.output, ofKey.output, `${node} ${kind}`)
  }
})

test("openssl verify accepts the control plane's own certificates", async () => {
  for (const [name, purpose] of [
    ['apiserver', 'sslserver'],
    ['apiserver-kubelet-client', 'sslclient'],
  ] as const) {
    const { code, output } = await opensslVerify(read(`pki/${name}.crt`), caFile, purpose)
    assert.equal(code, 0, `${name}: ${output}`)
  }
})

function handshake(address: string, port: number, names: { ip: string; hostname: string }) {
  const verify = ['-verify_return_error', '-verify_ip', names.ip, '-verify_hostname', names.hostname]
  return openssl(['s_client', '-connect', `${address}:${port}`, '-CAfile', caFile, '-showcerts', ...verify])
}

test("openssl s_client meets at each Node's endpoint the certificate of that node, with its name and address", async () => {
  assert.deepEqual(endpoints.map(({ name }) => name).sort(), nodes)
  for (const { name, address, port } of endpoints) {
    const { code, output } = await handshake(address, port, { ip: address, hostname: name })
    assert.equal(code, 0, output)
    assert.match(output, /Verify return code: 0 \(ok\)/)
    const shown = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/.exec(output)?.[0]
    assert.ok(shown && heldPair(folder.path, name, 'kubelet-server')?.pem.startsWith(shown))
  }
})

test('openssl s_client refuses a node under the name or the address of another', async () => {
  const [one, two] = [endpoint('worker-1'), endpoint('worker-2')]
  const otherName = await handshake(one.address, one.port, { ip: one.address, hostname: two.name })
  assert.notEqual(otherName.code, 0)
  assert.match(otherName.output, /hostname mismatch/i)
  const otherAddress = await handshake(one.address, one.port, { ip: two.address, hostname: one.name })
  assert.notEqual(otherAddress.code, 0)
  assert.match(otherAddress.output, /IP address mismatch/i)
})

test("openssl s_client accepts the API server's certificate under each of its names", async () => {
  const { port, hostname } = new URL(/server: (\S+)/.exec(read('admin.kubeconfig'))?.[1] ?? '')
  for (const name of ['localhost', 'kubernetes', 'kubernetes.default.svc.cluster.local']) {
    const { code, output } = await handshake(hostname, Number(port), { ip: hostname, hostname: name })
    assert.equal(code, 0, output)
  }
  const other = await handshake(hostname, Number(port), { ip: hostname, hostname: 'example.org' })
  assert.notEqual(other.code, 0)
})

/** GET at a node with a certificate, or with none; the node's own certificate is verified. */
async function getFrom(node: string, path: string, pair?: ConnectionConfig['clientCertificate']) {
  const { address, port } = endpoint(node)
  const transport = connectUndici({
    server: `https://${address}:${port}`,
    certificateAuthority: read('pki/ca.crt'),
    ...(pair && { clientCertificate: pair }),
  })
  try {
    const { status, body } = await transport.request({ method: 'GET', url: path, headers: {} })
    return { status, text: body instanceof Uint8Array ? new TextDecoder().decode(body) : 'a stream' }
  } finally {
    transport.closeConnections()
  }
}

test('H-2: who shows no certificate is Unauthorized at a node, for every path', async () => {
  for (const path of ['/metrics', '/healthz', '/pods', '/no-such-path']) {
    assert.deepEqual(await getFrom('worker-1', path), { status: 401, text: 'Unauthorized' }, path)
  }
})

test("the API server's client certificate may read a node's metrics and health", async () => {
  const pair = {
    certificate: read('pki/apiserver-kubelet-client.crt'),
    key: new Secret(read('pki/apiserver-kubelet-client.key')),
  }
  const metrics = await getFrom('worker-1', '/metrics', pair)
  assert.equal(metrics.status, 200)
  assert.match(metrics.text, /^kubelet_certificate_manager_client_/m)
  assert.deepEqual(await getFrom('worker-1', '/healthz', pair), { status: 200, text: 'ok' })
})

test('H-2: a node may not read the metrics of another, and the refusal says who wanted what', async () => {
  const pem = heldPair(folder.path, 'worker-2', 'kubelet-client')?.pem ?? ''
  const answer = await getFrom('worker-1', '/metrics', { certificate: pem, key: new Secret(pem) })
  assert.equal(answer.status, 403)
  assert.match(
    answer.text,
    /^Forbidden \(user=system:node:worker-2, verb=get, resource=nodes, subresource\(s\)=\[metrics\]\)/,
  )
})
