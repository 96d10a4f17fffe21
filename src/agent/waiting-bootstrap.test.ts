import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import { certDirectory, minute, onNode, type SimulatedNode, second } from './testing/simulated-node.ts'

// K-15 to K-24 are of the bootstrap that a kubelet without rotation waits for. The agent has none: here is what it does.

/** Every text on the machine's disk. */
async function everything({ machine: { disk } }: SimulatedNode): Promise<string> {
  const folders = [certDirectory, '/etc/kubernetes']
  const paths = await Promise.all(
    folders.map(async folder => (await disk.list(folder).catch(() => [])).map(name => `${folder}/${name}`)),
  )
  const texts = await Promise.all(paths.flat().map(path => disk.read(path)))
  return texts.map(bytes => new TextDecoder().decode(bytes)).join('\n')
}

test(
  'K-15, K-20: attempts that fail leave no key on the disk, each has a key of its own, and a kubelet’s temporary key is neither used nor in the way',
  onNode(async node => {
    const { cluster, machine, pass, requestsMade } = node
    await machine.disk.makeDirectory(certDirectory, 0o755)
    const temporary = `${certDirectory}/kubelet-client.key.tmp`
    await machine.disk.write(temporary, 'no key at all', { mode: 0o600 })
    await machine.writeBootstrap()
    const agent = await machine.start() // nobody approves
    await pass(40 * minute)
    const requests = await requestsMade()
    assert.ok(requests.length >= 2, `${requests.length} requests`)
    assert.equal(new Set(requests.map(({ spec }) => spec.request)).size, requests.length)
    assert.doesNotMatch(await everything(node), /PRIVATE KEY/)
    await cluster.start()
    await pass(16 * minute)
    assert.equal(agent.status().client.state, 'Valid')
    assert.equal(new TextDecoder().decode(await machine.disk.read(temporary)), 'no key at all')
  }),
)

test(
  'K-21: the first thing sent with the bootstrap credential is the request; nobody asks for /healthz',
  onNode(async ({ machine, cluster, pass }) => {
    await cluster.start()
    await machine.writeBootstrap()
    await machine.start()
    await pass(minute)
    assert.equal(machine.requests[0], 'POST /apis/certificates.k8s.io/v1/certificatesigningrequests')
    assert.ok(!machine.requests.some(line => line.includes('healthz')))
  }),
)

test(
  'K-23: a request that stands under another’s name is not taken for the node’s own, whatever it says',
  onNode(async ({ cluster, machine, pass, requestsMade }) => {
    await machine.writeBootstrap()
    const agent = await machine.start()
    const [own] = await requestsMade()
    assert.ok(own)
    await agent.stop()
    // What a kubelet of this name left, and somebody decided.
    const { spec } = own
    const left = { ...own, metadata: { name: 'node-csr-Zm9yZWlnbg' }, spec }
    await cluster.admin.create(resources.certificateSigningRequests, left as CertificateSigningRequest)
    await cluster.start()
    const again = await machine.start()
    await pass(10 * second)
    assert.equal(again.status().client.state, 'Valid')
    const names = (await requestsMade()).map(({ metadata }) => metadata.name)
    assert.ok(
      names.some(name => name.startsWith('csr-') && name !== own.metadata.name),
      names.join(),
    )
  }),
)

test(
  'K-24: an hour without an answer ends nothing: attempts follow one another, and the next one is approved',
  onNode(async ({ cluster, machine, pass, requestsMade }) => {
    await machine.writeBootstrap()
    const agent = await machine.start()
    await pass(70 * minute)
    const { state, lastError } = agent.status().client
    assert.equal(state, 'Pending')
    assert.match(lastError ?? '', /got no certificate within 900 s/)
    const before = (await requestsMade()).length
    assert.ok(before >= 4, `${before} attempts`)
    await cluster.start()
    await pass(second)
    assert.equal(agent.status().client.state, 'Valid', 'the attempt under way is approved')
  }),
)
