import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { clientOf } from '../src/cluster/demo/running-up.ts'
import { generateSigner } from '../src/keys/private-key.ts'
import { csrCondition } from '../src/kube/csr-conditions.ts'
import { type CertificateSigningRequest, type Lease, resources, signerNames } from '../src/kube/types.ts'
import { seededRandom } from '../src/testing/seeded-random.ts'
import { signedRequest } from '../src/testing/signed-request.ts'
import { eventually } from './support/eventually.ts'
import {
  type RollcallProcess,
  runRollcall,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'

const folder = temporaryFolder()
const running: RollcallProcess[] = []
after(async () => {
  for (const program of running.toReversed()) await program.stop()
  folder.remove()
})

function start(...args: string[]): RollcallProcess {
  const program = startRollcall(args)
  running.push(program)
  return program
}

test('a controller that is killed is followed by the other one, and both decision logs are whole', async () => {
  const directory = folder.path
  const kubeconfig = join(directory, 'admin.kubeconfig')
  await start('server', '--dir', directory, '--port', '0', '--no-controllers').ready
  const { client, transport } = await clientOf(kubeconfig)
  const csrs = resources.certificateSigningRequests

  /** Who is no node is denied a node's certificate: a decision that needs nothing else. */
  async function decide(name: string): Promise<void> {
    const signer = generateSigner('Ed25519', seededRandom(name.length))
    const pem = await signedRequest({ signer, commonName: `system:node:${name}` })
    await client.create<CertificateSigningRequest>(csrs, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName: signerNames.kubeletClient,
        usages: ['digital signature', 'client auth'],
      },
    })
    await eventually(`${name} is decided`, async () => {
      const csr = await client.get<CertificateSigningRequest>(csrs, { name })
      return csrCondition(csr, 'Denied')?.reason === 'RequesterNotNode'
    })
  }
  const leader = async () => {
    const target = { namespace: 'kube-system', name: 'rollcall-controller' }
    const { spec } = await client.get<Lease>(resources.leases, target)
    return spec?.holderIdentity ?? ''
  }

  try {
    const logs = ['a.log', 'b.log'].map(name => join(directory, name))
    const [first = '', second = ''] = logs
    const controller = (log: string) =>
      start('controller', '--kubeconfig', kubeconfig, '--only', 'approval', '--decision-log', log)
    const killed = controller(first)
    await killed.ready
    await decide('n1')
    const before = await leader()
    const following = controller(second)
    await following.ready
    killed.child.kill('SIGKILL')
    await killed.ended
    await decide('n2-later')
    assert.notEqual(await leader(), before)
    await following.stop()

    const words = ['audit', 'verify', '--kubeconfig', kubeconfig, ...logs.flatMap(log => ['--log', log])]
    const verified = await runRollcall(words)
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
    const found = await runRollcall([
      'audit',
      'find',
      ...logs.flatMap(log => ['--log', log]),
      '--node',
      'n2-later',
    ])
    assert.match(found.stdout, /Deny +RequesterNotNode +n2-later +n2-later/)
  } finally {
    transport.closeConnections()
  }
})
