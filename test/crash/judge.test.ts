import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { clientOf } from '../../src/cluster/demo/running-up.ts'
import { SeededRandom } from '../../src/fleet/simulated/random.ts'
import { listAll } from '../../src/kube/client.ts'
import { type CertificateSigningRequest, type ConfigMap, resources } from '../../src/kube/types.ts'
import { eventually } from '../support/eventually.ts'
import { type RollcallProcess, startRollcall, temporaryFolder } from '../support/rollcall-process.ts'
import { inflict } from './damage.ts'
import { judge } from './judge.ts'
import { Writer } from './writer.ts'

// The crash suite is worth what its judges see: here they get wrongs that somebody really did.
const folder = temporaryFolder()
const current = (node: string, kind: string) => join(folder.path, 'nodes', node, 'pki', `${kind}-current.pem`)
let up: RollcallProcess
let admin: Awaited<ReturnType<typeof clientOf>>
const judged = () => judge(folder.path, 2, admin.client)

before(async () => {
  up = startRollcall(['up', '--nodes', '2', '--dir', folder.path, '--port', '0'])
  await up.ready
  admin = await clientOf(join(folder.path, 'admin.kubeconfig'))
})
after(async () => {
  admin?.transport.closeConnections()
  await up?.stop()
  folder.remove()
})

/** Judged after the files were tampered with; the fleet holds its pairs in memory, so they can be put back. */
async function tampered(paths: string[], tamper: () => unknown, wrong: RegExp): Promise<void> {
  const whole = paths.map(path => readFileSync(path))
  await tamper()
  try {
    await assert.rejects(judged, wrong)
  } finally {
    for (const [index, path] of paths.entries()) writeFileSync(path, whole[index] ?? '')
  }
}

test('a healthy directory is judged right', judged)

test('a node that holds the pair of another is noticed', async () => {
  const [one, two] = [current('worker-1', 'kubelet-client'), current('worker-2', 'kubelet-client')]
  await tampered([two], () => copyFileSync(one, two), /worker-2 kubelet-client/)
})

test('a certificate that has lapsed is noticed', async () => {
  const both = [current('worker-1', 'kubelet-client'), current('worker-1', 'kubelet-server')]
  await tampered(both, () => inflict('lapse', folder.path, 'worker-1'), /certificate has expired/)
})

test('acknowledged content that is lost, or is other content, is noticed', async () => {
  const writer = new Writer(folder.path, new SeededRandom('judge'))
  writer.start()
  await eventually('some writes are acknowledged', () => writer.acknowledged > 20)
  await writer.stop()
  await writer.compare(admin.client)
  const configMaps = await listAll<ConfigMap>(admin.client, resources.configMaps, { namespace: 'default' })
  const [victim] = configMaps.items.filter(({ metadata }) => metadata.name.startsWith('crash-'))
  assert.ok(victim)
  await admin.client.update(resources.configMaps, { ...victim, data: { content: 'other' } })
  await assert.rejects(writer.compare(admin.client), /ConfigMap crash-\d is .*other/)
  await admin.client.delete(resources.configMaps, { name: victim.metadata.name, namespace: 'default' })
  await assert.rejects(writer.compare(admin.client), /ConfigMap crash-\d is \{\}/)
})

test('a held certificate whose request is lost is noticed', async () => {
  const { items } = await listAll<CertificateSigningRequest>(
    admin.client,
    resources.certificateSigningRequests,
  )
  const [request] = items
  assert.ok(request)
  await admin.client.delete(resources.certificateSigningRequests, { name: request.metadata.name })
  await assert.rejects(judged, /holds a kubelet-(client|server) that the API does not know/)
})
