import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inProcessTransport } from '../apiserver/in-process-transport.ts'
import { RollcallError } from '../errors.ts'
import { asynchronousDisk, MachineDisk } from '../fleet/simulated/disk.ts'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { Secret } from '../keys/secret.ts'
import { encodeKubeconfig } from '../kube/encode-kubeconfig.ts'
import { parseKubeconfig, selectContext } from '../kube/kubeconfig.ts'
import type { Connect } from '../kube/transport.ts'
import { type CertificateSigningRequest, type KubeNode, type Lease, resources } from '../kube/types.ts'
import { type ControlledCluster, calm, startControlledCluster } from '../testing/controlled-cluster.ts'
import { refusal } from '../testing/in-memory-transport.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { formatIp } from '../x509/ip.ts'
import { decodePem } from '../x509/pem.ts'
import { type Agent, startAgent } from './agent.ts'
import type { AgentOptions } from './agent-options.ts'
import type { ServingOptions } from './serving.ts'

const [second, minute, hour] = [1000, 60_000, 3_600_000]
const server = 'https://192.0.2.1:6443'
const token = 'abcdef.0123456789abcdef'
const bootstrapKubeconfigPath = '/etc/kubernetes/bootstrap-kubelet.conf'
const kubeconfigPath = '/etc/kubernetes/kubelet.conf'
const certDirectory = '/var/lib/kubelet/pki'
const shortLived = { certificateLifetimeSeconds: 3600 }

let cluster: ControlledCluster
let machine: ReturnType<typeof createMachine>

/** One node's disk and network; `address` is where the API answers, undefined: nowhere. */
function createMachine(cluster: ControlledCluster) {
  const { clock, api } = cluster
  const random = new SeededRandom('agent')
  const disk = asynchronousDisk(new MachineDisk(random.stream('disk'), clock), async call => call())
  const log = recordingLog()
  const agents: Agent[] = []
  const made = {
    disk,
    log,
    api: server as string | undefined,
    /** The API answers 401 to the node's certificate. */
    refuse: false,
    connections: [] as Parameters<Connect>[0][],
    requests: [] as string[],
    served: undefined as ServingOptions | undefined,
    async writeBootstrap(bearer = token, at = server) {
      await disk.makeDirectory('/etc/kubernetes', 0o755)
      const fields = {
        server: at,
        certificateAuthority: { pem: cluster.ca.pem },
        user: { token: new Secret(bearer) },
      }
      await disk.write(bootstrapKubeconfigPath, encodeKubeconfig(fields).reveal(), { mode: 0o600 })
    },
    async start(options: Partial<AgentOptions> = {}): Promise<Agent> {
      const agent = startAgent(
        {
          nodeName: 'node-a',
          addresses: [
            { type: 'InternalIP', address: '10.0.0.1' },
            { type: 'Hostname', address: 'node-a' },
          ],
          certDirectory,
          kubeconfigPath,
          bootstrapKubeconfigPath,
          rotateCertificates: true,
          serverTLSBootstrap: true,
          keyAlgorithm: 'Ed25519',
          ...options,
        },
        {
          clock,
          random: random.stream(`agent ${agents.length}`),
          disk,
          log,
          connect,
          async listen(serving) {
            made.served = serving
            return { port: 10_250, close: async () => {} }
          },
        },
      )
      agents.push(agent)
      await pass(2 * second)
      return agent
    },
    stop: () => Promise.all(agents.map(agent => agent.stop())),
  }
  const connect: Connect = config => {
    made.connections.push(config)
    const certificates = decodePem(config.clientCertificate?.certificate ?? '').map(block => block.bytes)
    const peer = { remoteAddress: '10.0.0.1', ...(certificates.length > 0 && { certificates }) }
    const authorization = config.bearerToken && `Bearer ${config.bearerToken.reveal()}`
    const through = inProcessTransport(api, peer, authorization ? { authorization } : {})
    return {
      closeConnections: () => through.closeConnections(),
      async request(request) {
        made.requests.push(`${request.method} ${request.url.split('?')[0]}`)
        if (made.api !== config.server)
          throw new RollcallError('API_UNREACHABLE', `${config.server} is silent`)
        if (made.refuse && config.clientCertificate) return refusal(401, 'Unauthorized')
        return through.request(request)
      },
    }
  }
  return made
}

/** Lets time pass, in steps small enough for answers to come between. */
async function pass(milliseconds: number): Promise<void> {
  const step = Math.max(second / 2, milliseconds / 40)
  for (let left = milliseconds; left > 0; left -= step) {
    await cluster.clock.advance(Math.min(step, left))
    await calm()
  }
}

const node = () => cluster.admin.get<KubeNode>(resources.nodes, { name: 'node-a' })
const lease = () =>
  cluster.admin.get<Lease>(resources.leases, { name: 'node-a', namespace: 'kube-node-lease' })
const requestsMade = async () =>
  (await cluster.admin.list<CertificateSigningRequest>(resources.certificateSigningRequests)).items

/** A test with a cluster and a machine of its own, which must end without leaving a timer. */
function testNode(name: string, live: () => Promise<void>): void {
  test(name, async () => {
    cluster = await startControlledCluster()
    machine = createMachine(cluster)
    try {
      await live()
    } finally {
      await machine.stop()
      await cluster.close()
    }
    assert.equal(cluster.clock.pending(), 0, 'timers are left')
  })
}

testNode('a node joins: client certificate, Node, lease, serving certificate, kubeconfig', async () => {
  await cluster.start()
  await machine.writeBootstrap()
  const agent = await machine.start()
  const { client, serving, registered, lastError } = agent.status()
  assert.deepEqual([client.state, serving.state, registered, lastError], ['Valid', 'Valid', true, undefined])

  const { status, metadata } = await node()
  assert.deepEqual(status?.addresses, [
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'Hostname', address: 'node-a' },
  ])
  assert.equal(status?.daemonEndpoints?.kubeletEndpoint?.Port, 10_250)
  assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.reason, 'KubeletReady')
  assert.equal(metadata.labels?.['kubernetes.io/hostname'], 'node-a')

  const { spec, metadata: leaseMetadata } = await lease()
  assert.deepEqual([spec?.holderIdentity, spec?.leaseDurationSeconds], ['node-a', 40])
  assert.equal(leaseMetadata.ownerReferences?.[0]?.uid, metadata.uid)

  const pem = new TextDecoder().decode(await machine.disk.read(`${certDirectory}/kubelet-server-current.pem`))
  const [leaf] = parseCertificatesPem(pem)
  assert.deepEqual(leaf?.subjectAltName.dnsNames, ['node-a'])
  assert.deepEqual(leaf?.subjectAltName.ipAddresses.map(formatIp), ['10.0.0.1'])
  assert.ok(machine.served?.getCertificate()?.chain)
  assert.equal((await requestsMade()).length, 2)
})

testNode(
  'K-2: the kubeconfig is written before any certificate is there, and refers to the pair',
  async () => {
    await machine.writeBootstrap()
    const agent = await machine.start() // nobody approves
    assert.equal(agent.status().client.state, 'Pending')
    const text = new TextDecoder().decode(await machine.disk.read(kubeconfigPath))
    const { cluster: at, user } = selectContext(parseKubeconfig(text, kubeconfigPath))
    const file = `${certDirectory}/kubelet-client-current.pem`
    assert.deepEqual([at.server, user], [server, { clientCertificate: { file }, clientKey: { file } }])
  },
)

testNode('the bootstrap kubeconfig may come long after the agent', async () => {
  await cluster.start()
  const agent = await machine.start()
  await pass(10 * minute)
  assert.match(agent.status().lastError ?? '', /Missing: ENOENT/)
  await machine.writeBootstrap()
  await pass(40 * second)
  assert.equal(agent.status().client.state, 'Valid')
})

testNode('both certificates are renewed in time, without the bootstrap credential', async () => {
  await cluster.start(shortLived)
  await machine.writeBootstrap()
  const agent = await machine.start()
  const before = agent.status()
  await machine.writeBootstrap('abcdef.ffffffffffffffff')
  await pass(55 * minute)
  const after = agent.status()
  assert.deepEqual([after.client.state, after.serving.state], ['Valid', 'Valid'])
  assert.notEqual(after.client.serial, before.client.serial)
  assert.notEqual(after.serving.serial, before.serving.serial)
  const ends = [after.client, after.serving].map(({ notAfter = 0 }) => notAfter)
  for (const notAfter of ends) assert.ok(notAfter > cluster.clock.now() + 15 * minute)
})

/** Whether the fields of a line in the log are those of a request for a serving certificate. */
const isServingRequest = (fields: unknown) =>
  JSON.stringify(fields).startsWith('{"certificate":"kubelet-server","cause":')

testNode(
  'K-38: report 9: after a lapse the node comes back with the bootstrap credential, in the same process',
  async () => {
    await cluster.start(shortLived)
    await machine.writeBootstrap()
    const agent = await machine.start()
    machine.api = undefined
    await pass(59 * minute)
    assert.equal(agent.status().client.state, 'Valid')
    await pass(hour)
    assert.deepEqual([agent.status().client.state, agent.status().serving.state], ['Expired', 'Expired'])
    assert.equal(machine.served?.getCertificate(), undefined)
    const asked = () => machine.log.fields.filter(isServingRequest).length
    const before = asked()
    await pass(30 * minute)
    assert.equal(asked(), before, 'without a client certificate the serving certificate is not asked for')
    machine.api = server
    await pass(90 * second)
    assert.equal(asked(), before + 1)
    const { client, serving, lastError } = agent.status()
    assert.deepEqual([client.state, serving.state, lastError], ['Valid', 'Valid', undefined])
  },
)

testNode(
  'without rotateCertificates nothing is renewed before it lapses, and then the node comes back',
  async () => {
    await cluster.start(shortLived)
    await machine.writeBootstrap()
    const agent = await machine.start({ rotateCertificates: false })
    const { serial, notAfter = 0 } = agent.status().client
    await pass(notAfter - cluster.clock.now() - minute)
    assert.equal(agent.status().client.serial, serial)
    await pass(3 * minute)
    assert.equal(agent.status().client.state, 'Valid')
    assert.notEqual(agent.status().client.serial, serial)
  },
)

testNode(
  'K-51: with a new certificate the connections of the old one are closed and the watch goes on',
  async () => {
    await cluster.start(shortLived)
    await machine.writeBootstrap()
    const agent = await machine.start()
    const { serial } = agent.status().client
    while (agent.status().client.serial === serial) await pass(minute)
    machine.requests.length = 0
    agent.setAddresses([{ type: 'InternalIP', address: '10.0.0.7' }])
    await pass(5 * second)
    const [leaf] = parseCertificatesPem(machine.served?.getCertificate()?.chain ?? '')
    assert.deepEqual(
      leaf?.subjectAltName.ipAddresses.map(formatIp),
      ['10.0.0.7'],
      'the watch showed the change',
    )
  },
)

testNode('a 401 leads to a new certificate at once', async () => {
  await cluster.start()
  await machine.writeBootstrap()
  const agent = await machine.start()
  const { serial } = agent.status().client
  machine.refuse = true
  await pass(11 * second)
  machine.refuse = false
  await pass(2 * second)
  assert.equal(agent.status().client.state, 'Valid')
  assert.notEqual(agent.status().client.serial, serial)
  assert.ok(machine.requests.filter(line => line.startsWith('POST /apis/certificates')).length <= 4)
})

testNode('K-72: report 31: other addresses are published and the serving certificate follows', async () => {
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
})

testNode('a Node that is deleted is registered again, and its lease belongs to the new one', async () => {
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
})

testNode('a Node that others marked as not ready is reported ready again', async () => {
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
})

testNode('a restarted agent uses what is on the disk and makes no new request', async () => {
  await cluster.start()
  await machine.writeBootstrap()
  const first = await machine.start()
  const { client } = first.status()
  await first.stop()
  await machine.disk.remove(bootstrapKubeconfigPath)
  const second = await machine.start()
  assert.equal(second.status().client.serial, client.serial)
  assert.ok(second.status().registered)
  assert.equal((await requestsMade()).length, 2)
})

testNode('K-55: an API server that moved is found again through the bootstrap kubeconfig', async () => {
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
})

testNode('a steady node makes only its lease requests', async () => {
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
})

testNode(
  'K-70, K-71: without serverTLSBootstrap the serving certificate is self-signed for the node name',
  async () => {
    await cluster.start()
    const agent = await machine.start({ serverTLSBootstrap: false })
    assert.equal(agent.status().serving.state, 'Valid')
    const [leaf, ca] = parseCertificatesPem(machine.served?.getCertificate()?.chain ?? '')
    assert.deepEqual(leaf?.subjectAltName.dnsNames, ['node-a'])
    assert.ok(ca?.basicConstraints?.ca)
  },
)

testNode('H-2: the HTTPS API serves only whom the API server allows', async () => {
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
  assert.match(await get('/metrics', own), /rollcall_agent_certificate_ttl_seconds\{kind="serving"\} 8\d{4}/)
  assert.equal(await get('/pods', own), '200 {"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}')
  assert.equal(await get('/nowhere', own), '404 404 page not found\n')
  assert.match(
    await get('/exec/default/web/main?command=id&output=1', own),
    /^403 Forbidden \(user=system:node:node-a, verb=create, resource=nodes, subresource\(s\)=\[proxy\]\)$/,
  )
  assert.equal(await get('/pods/../exec/default/web/main', own), '400 Bad Request')
})
