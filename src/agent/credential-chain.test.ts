import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asynchronousDisk, MachineDisk } from '../fleet/simulated/disk.ts'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { createCredentialChain } from '../join/credential-sources.ts'
import { Secret } from '../keys/secret.ts'
import { encodeKubeconfig } from '../kube/encode-kubeconfig.ts'
import type { Net } from '../ports.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import type { AgentPods } from './agent-pods.ts'
import { credentialSources } from './credential-chain.ts'
import { NodeEndpoint } from './node-endpoint.ts'

const context = { reason: 'initial' as const, nodeName: 'node-a' }
const bootstrapKubeconfigPath = '/etc/bootstrap.conf'

/** A node whose static pods are in this state; `plugin` is what the plugin on the socket answers. */
async function node(whyNotReady: string | undefined) {
  const clock = createManualClock(0)
  const log = recordingLog()
  const simulated = asynchronousDisk(new MachineDisk(new SeededRandom('chain'), clock), async call => call())
  const sockets = new Set(['/run/plugin.sock'])
  const disk: AgentPorts['disk'] = {
    ...simulated,
    stat: async path =>
      sockets.has(path)
        ? { kind: 'other', special: 'socket', mode: 0o600, size: 0, modified: 0, owner: 0 }
        : { kind: 'directory', mode: 0o755, size: 0, modified: 0, owner: 0 },
  }
  await simulated.makeDirectory('/etc', 0o755)
  const asked: string[] = []
  const net: Net = {
    http: async ({ body = '' }) => {
      asked.push(body)
      return { status: 200, body: '{"token":"plugin"}' }
    },
    connect: async () => {},
  }
  const options: AgentOptions = {
    nodeName: 'node-a',
    addresses: [],
    certDirectory: '/pki',
    kubeconfigPath: '/etc/kubelet.conf',
    bootstrapKubeconfigPath,
    credentialPlugins: [{ socket: '/run/plugin.sock', staticPod: 'kube-system/hsm' }],
  }
  const ports: AgentPorts = {
    clock,
    log,
    disk,
    net,
    random: new SeededRandom('chain'),
    connect: () => {
      throw new Error('nothing connects here')
    },
  }
  const pods: AgentPods = {
    stop: async () => {},
    whyNotReady: name => (name === 'kube-system/hsm' ? whyNotReady : 'no such pod'),
    connected() {},
    disconnected() {},
    nodeSeen() {},
  }
  const endpoint = new NodeEndpoint({
    ...ports,
    ...options,
    bootstrapKubeconfigPath,
    currentPairPath: '/pki/current.pem',
  })
  const chain = createCredentialChain(credentialSources(options, ports, { pods, endpoint }))
  const writeBootstrap = (token: string) => {
    const user = { token: new Secret(token) }
    const text = encodeKubeconfig({ server: 'https://192.0.2.1:6443', user }).reveal()
    return simulated.write(bootstrapKubeconfigPath, text, { mode: 0o600 })
  }
  return { chain, asked, writeBootstrap }
}

test('a static pod that is not ready holds up only the credential that names it', async () => {
  const { chain, asked, writeBootstrap } = await node('the static pod kube-system/hsm is not ready yet')
  await assert.rejects(
    chain.acquire(context),
    /plugin \/run\/plugin\.sock: Waiting: the static pod kube-system\/hsm is not ready yet; kubeconfig \/etc\/bootstrap\.conf: Missing/,
  )
  await writeBootstrap('kubeconfig')
  const { connection } = await chain.acquire(context)
  assert.equal(connection.bearerToken?.reveal(), 'kubeconfig')
  assert.deepEqual(asked, [])
})

test('a ready one is asked first; the API server it does not name is that of a kubeconfig that may come late', async () => {
  const { chain, writeBootstrap } = await node(undefined)
  await assert.rejects(
    chain.acquire(context),
    /NoCredential: neither the plugin nor a kubeconfig names an API server/,
  )
  await writeBootstrap('kubeconfig')
  const { connection } = await chain.acquire(context)
  assert.deepEqual(
    [connection.server, connection.bearerToken?.reveal()],
    ['https://192.0.2.1:6443', 'plugin'],
  )
})
