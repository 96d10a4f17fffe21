import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseKubeconfig, selectContext } from '../kube/kubeconfig.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { formatIp } from '../x509/ip.ts'
import {
  bootstrapKubeconfigPath,
  certDirectory,
  hour,
  kubeconfigPath,
  minute,
  onNode,
  second,
  server,
  shortLived,
} from './testing/simulated-node.ts'

test(
  'a node joins: client certificate, Node, lease, serving certificate, kubeconfig',
  onNode(async ({ cluster, machine, node, lease, requestsMade }) => {
    await cluster.start()
    await machine.writeBootstrap()
    const agent = await machine.start()
    const { client, serving, registered, lastError } = agent.status()
    assert.deepEqual(
      [client.state, serving.state, registered, lastError],
      ['Valid', 'Valid', true, undefined],
    )

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

    const pem = new TextDecoder().decode(
      await machine.disk.read(`${certDirectory}/kubelet-server-current.pem`),
    )
    const [leaf] = parseCertificatesPem(pem)
    assert.deepEqual(leaf?.subjectAltName.dnsNames, ['node-a'])
    assert.deepEqual(leaf?.subjectAltName.ipAddresses.map(formatIp), ['10.0.0.1'])
    assert.ok(machine.served?.getCertificate()?.chain)
    assert.equal((await requestsMade()).length, 2)
  }),
)

test(
  'K-2: the kubeconfig is written before any certificate is there, and refers to the pair',
  onNode(async ({ machine }) => {
    await machine.writeBootstrap()
    const agent = await machine.start() // nobody approves
    assert.equal(agent.status().client.state, 'Pending')
    const text = new TextDecoder().decode(await machine.disk.read(kubeconfigPath))
    const { cluster: at, user } = selectContext(parseKubeconfig(text, kubeconfigPath))
    const file = `${certDirectory}/kubelet-client-current.pem`
    assert.deepEqual([at.server, user], [server, { clientCertificate: { file }, clientKey: { file } }])
  }),
)

test(
  'the bootstrap kubeconfig may come long after the agent',
  onNode(async ({ cluster, machine, pass }) => {
    await cluster.start()
    const agent = await machine.start()
    await pass(10 * minute)
    assert.match(agent.status().lastError ?? '', /Missing: ENOENT/)
    await machine.writeBootstrap()
    await pass(40 * second)
    assert.equal(agent.status().client.state, 'Valid')
  }),
)

test(
  'both certificates are renewed in time, without the bootstrap credential',
  onNode(async ({ cluster, machine, pass }) => {
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
  }),
)

/** Whether the fields of a line in the log are those of a request for a serving certificate. */
const isServingRequest = (fields: unknown) =>
  JSON.stringify(fields).startsWith('{"certificate":"kubelet-server","cause":')

test(
  'K-38: report 9: after a lapse the node comes back with the bootstrap credential, in the same process',
  onNode(async ({ cluster, machine, pass }) => {
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
  }),
)

test(
  'report 27: without rotateCertificates nothing is renewed before it lapses, and then the node comes back',
  onNode(async ({ cluster, machine, pass }) => {
    await cluster.start(shortLived)
    await machine.writeBootstrap()
    const agent = await machine.start({ rotateCertificates: false })
    const { serial, notAfter = 0 } = agent.status().client
    await pass(notAfter - cluster.clock.now() - minute)
    assert.equal(agent.status().client.serial, serial)
    await pass(3 * minute)
    assert.equal(agent.status().client.state, 'Valid')
    assert.notEqual(agent.status().client.serial, serial)
  }),
)

test(
  'K-51: with a new certificate the connections of the old one are closed and the watch goes on',
  onNode(async ({ cluster, machine, pass }) => {
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
  }),
)

test(
  'a 401 leads to a new certificate at once',
  onNode(async ({ cluster, machine, pass }) => {
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
  }),
)

test(
  'a restarted agent uses what is on the disk and makes no new request',
  onNode(async ({ cluster, machine, requestsMade }) => {
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
  }),
)

test(
  'report 26: while requests are approved and never issued, a lapsed node keeps asking, and comes right when the signer is back',
  onNode(async ({ cluster, machine, pass, requestsMade }) => {
    const signing = await cluster.start(shortLived)
    await machine.writeBootstrap()
    const agent = await machine.start()
    await signing.stop()
    await cluster.start({ ...shortLived, signers: {} })
    await pass(3 * hour)
    const { client, lastError } = agent.status()
    assert.equal(client.state, 'Expired')
    assert.match(lastError ?? '', /got no certificate within 900 s; see .rollcall csr explain csr-/)
    const waiting = (await requestsMade()).filter(({ status }) => status?.conditions && !status.certificate)
    assert.ok(waiting.length >= 4, `${waiting.length} requests were approved and not issued`)
    await cluster.start(shortLived)
    await pass(16 * minute)
    assert.equal(agent.status().client.state, 'Valid')
  }),
)
