import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../keys/private-key.ts'
import { selfSignedCa } from '../keys/self-signed.ts'
import { parseKubeconfig, selectContext } from '../kube/kubeconfig.ts'
import { resources } from '../kube/types.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { formatIp } from '../x509/ip.ts'
import { decodePem } from '../x509/pem.ts'
import { kubeconfigPath, onNode, second, server, token } from './testing/simulated-node.ts'

test(
  'K-72: report 31: other addresses are published and the serving certificate follows',
  onNode(async ({ cluster, machine, pass }) => {
    await cluster.start()
    await machine.writeBootstrap()
    const agent = await machine.start()
    const { serial } = agent.status().serving
    agent.setAddresses([
      { type: 'InternalIP', address: '10.0.0.9' },
      { type: 'Hostname', address: 'node-a' },
    ])
    await pass(5 * second)
    assert.notEqual(agent.status().serving.serial, serial)
    const [leaf] = parseCertificatesPem(machine.served?.getCertificate()?.chain ?? '')
    assert.deepEqual(leaf?.subjectAltName.ipAddresses.map(formatIp), ['10.0.0.9'])
  }),
)

test(
  'a Node that is deleted is registered again, and its lease belongs to the new one',
  onNode(async ({ cluster, machine, pass, node, lease }) => {
    await cluster.start()
    await machine.writeBootstrap()
    const agent = await machine.start()
    const { uid } = (await node()).metadata
    await cluster.admin.delete(resources.nodes, { name: 'node-a' })
    await pass(15 * second)
    assert.ok(agent.status().registered)
    const again = (await node()).metadata.uid
    assert.notEqual(again, uid)
    assert.equal((await lease()).metadata.ownerReferences?.[0]?.uid, again)
  }),
)

test(
  'a Node that others marked as not ready is reported ready again',
  onNode(async ({ cluster, machine, pass, node }) => {
    await cluster.start()
    await machine.writeBootstrap()
    await machine.start()
    const current = await node()
    const conditions = current.status?.conditions?.map(condition =>
      condition.type === 'Ready'
        ? { ...condition, status: 'Unknown' as const, reason: 'NodeStatusUnknown' }
        : condition,
    )
    await cluster.admin.update(
      resources.nodes,
      { ...current, status: { ...current.status, ...(conditions && { conditions }) } },
      { subresource: 'status' },
    )
    await pass(3 * second)
    assert.equal((await node()).status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True')
  }),
)

test(
  'report 23: a PKI that was made anew knows neither the node nor its CA; a new bootstrap kubeconfig brings it back',
  onNode(async ({ cluster, machine, pass, lease }) => {
    await cluster.start()
    await machine.writeBootstrap()
    const agent = await machine.start()
    const before = agent.status().client.serial
    const { clientCertificate } = machine.connections.findLast(config => config.clientCertificate) ?? {}
    machine.refuse = clientCertificate?.certificate ?? assert.fail('it has no certificate')
    const signer = generateSigner('Ed25519', seededRandom(23))
    const now = cluster.clock.now()
    machine.servesWith = await selfSignedCa({
      ...{ commonName: 'kubernetes', signer, random: seededRandom(24) },
      ...{ notBefore: now, notAfter: now + 3_600_000 },
    })
    await pass(60 * second)
    assert.equal(agent.status().client.serial, before, 'nobody knows it, and it stays')
    await machine.writeBootstrap(token, server, machine.servesWith)
    await pass(90 * second)
    const { state, serial } = agent.status().client
    assert.deepEqual([state, serial === before], ['Valid', false])
    assert.ok(Date.parse((await lease()).spec?.renewTime ?? '') > cluster.clock.now() - 15 * second)
  }),
)

test(
  'K-55: an API server that moved is found again through the bootstrap kubeconfig',
  onNode(async ({ cluster, machine, pass, lease }) => {
    await cluster.start()
    await machine.writeBootstrap()
    await machine.start()
    const moved = 'https://192.0.2.7:6443'
    machine.api = moved
    await machine.writeBootstrap(token, moved)
    await pass(30 * second)
    const renewed = (await lease()).spec?.renewTime ?? ''
    assert.ok(Date.parse(renewed) > cluster.clock.now() - 15 * second)
    const text = new TextDecoder().decode(await machine.disk.read(kubeconfigPath))
    assert.equal(selectContext(parseKubeconfig(text, kubeconfigPath)).cluster.server, moved)
  }),
)

test(
  'a steady node makes only its lease requests',
  onNode(async ({ cluster, machine, pass }) => {
    await cluster.start()
    await machine.writeBootstrap()
    await machine.start()
    await pass(5 * second)
    machine.requests.length = 0
    await pass(100 * second)
    const others = machine.requests.filter(line => !line.startsWith('PUT /apis/coordination.k8s.io'))
    assert.deepEqual(others, [])
    assert.ok(
      machine.requests.length >= 9 && machine.requests.length <= 11,
      `${machine.requests.length} renewals`,
    )
  }),
)

test(
  'K-70, K-71: without serverTLSBootstrap the serving certificate is self-signed for the node name',
  onNode(async ({ cluster, machine }) => {
    await cluster.start()
    const agent = await machine.start({ serverTLSBootstrap: false })
    assert.equal(agent.status().serving.state, 'Valid')
    const [leaf, ca] = parseCertificatesPem(machine.served?.getCertificate()?.chain ?? '')
    assert.deepEqual(leaf?.subjectAltName.dnsNames, ['node-a'])
    assert.ok(ca?.basicConstraints?.ca)
  }),
)

test(
  'H-2: the HTTPS API serves only whom the API server allows',
  onNode(async ({ cluster, machine, pass }) => {
    await cluster.start()
    await machine.writeBootstrap()
    await machine.start()
    const get = async (url: string, certificate?: string) => {
      const certificates = decodePem(certificate ?? '').map(block => block.bytes)
      const peer = { remoteAddress: '10.0.0.5', ...(certificates.length > 0 && { certificates }) }
      const response = await machine.served?.handle({ method: 'GET', url, headers: {} }, peer)
      assert.ok(response?.body instanceof Uint8Array)
      return `${response.status} ${new TextDecoder().decode(response.body)}`
    }
    assert.equal(await get('/metrics'), '401 Unauthorized')
    assert.equal(await get('/healthz'), '401 Unauthorized')
    const own = machine.connections.at(-1)?.clientCertificate?.certificate
    assert.equal(
      await get('/metrics', own),
      '403 Forbidden (user=system:node:node-a, verb=get, resource=nodes, subresource(s)=[metrics])',
    )
    assert.equal(
      await get('/healthz', own),
      '403 Forbidden (user=system:node:node-a, verb=get, resource=nodes, subresource(s)=[healthz proxy])',
    )
    await cluster.grant('system:node:node-a', [
      { verbs: ['get'], apiGroups: [''], resources: ['nodes/metrics', 'nodes/proxy'] },
    ])
    await pass(40 * second) // a refusal is kept for 30 s
    assert.equal(await get('/healthz', own), '200 ok')
    assert.match(await get('/metrics', own), /kubelet_certificate_manager_client_ttl_seconds 8\d{4}/)
    assert.match(
      await get('/metrics', own),
      /rollcall_agent_certificate_ttl_seconds\{kind="serving"\} 8\d{4}/,
    )
    assert.equal(await get('/pods', own), '200 {"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}')
    assert.equal(await get('/nowhere', own), '404 404 page not found\n')
    assert.match(
      await get('/exec/default/web/main?command=id&output=1', own),
      /^403 Forbidden \(user=system:node:node-a, verb=create, resource=nodes, subresource\(s\)=\[proxy\]\)$/,
    )
    assert.equal(await get('/pods/../exec/default/web/main', own), '400 Bad Request')
  }),
)
