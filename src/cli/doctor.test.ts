import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Command } from 'commander'
import { derOf, type ExaminedCluster, startExaminedCluster } from '../doctor/testing/examined-cluster.ts'
import { RollcallError } from '../errors.ts'
import { systemDisk } from '../host/disk.ts'
import { systemMachine } from '../host/machine.ts'
import { systemSpawn } from '../host/spawn.ts'
import { resources } from '../kube/types.ts'
import { connectUndici } from '../kube/undici-transport.ts'
import { runCommand } from '../testing/command-run.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import type { CommandIo, ConnectionFlags } from './command-io.ts'
import { register } from './doctor.ts'

let cluster: ExaminedCluster
let folder: string

before(async () => {
  cluster = await startExaminedCluster()
  await cluster.start()
  await cluster.join('worker-1', '10.0.0.11')
  folder = await mkdtemp(join(tmpdir(), 'rollcall-doctor-cli-'))
})
after(async () => {
  await cluster.close()
  await rm(folder, { recursive: true })
})

const ports = {
  disk: systemDisk,
  machine: systemMachine,
  random: seededRandom(9),
  connect: connectUndici,
  spawn: systemSpawn,
  environment: {},
  lookAtTls: async (where: { host: string; port: number }) => ({
    ...where,
    chain: derOf(cluster.serves.chain),
  }),
}
const doctor = (...words: string[]) =>
  runCommand((program, io) => register(program, io, ports), cluster.admin, cluster.clock, 'doctor', ...words)

test('a healthy cluster is exit 0', async () => {
  const { stdout, exitCode } = await doctor()
  assert.equal(exitCode, 0)
  assert.match(stdout, /^found +nothing$/m)
})

test('nothing found, but not everything could be looked at: exit 4, and it says so', async () => {
  const client = await cluster.as('nobody')
  const run = (program: Command, io: CommandIo) => register(program, io, ports)
  const { stdout, exitCode } = await runCommand(run, client, cluster.clock, 'doctor')
  assert.equal(exitCode, 4)
  assert.match(stdout, /^INFO Z04 /m)
  assert.match(stdout, /^found +nothing$/m)
  assert.match(stdout, /^SKIP +\d\d checks, which -o wide names/m)
  const wide = await runCommand(run, client, cluster.clock, 'doctor', '-o', 'wide')
  assert.match(wide.stdout, /^SKIP +A01 A03 A04 A05 A06, for lack of bootstrapTokens$/m)
  assert.match(stdout, / bootstrapTokens forbidden: secrets is forbidden: User "nobody"/m)
})

test('explain prints the page of a diagnosis, and the list of all', async () => {
  const { stdout } = await doctor('explain', 'c04')
  assert.match(stdout, /^C04: A request for a serving certificate waits/)
  assert.match(stdout, /^WHAT IT EXPLAINS\n(\w\d\d(, )?)+ at the same place/m)
  assert.doesNotMatch(stdout, /^#|\]\(/m, 'it is no Markdown')
  assert.match(
    (await doctor('explain')).stdout,
    /^E11 +critical +The client certificate of a node has expired$/m,
  )
  await assert.rejects(doctor('explain', 'X99'), RollcallError)
})

test('a finding tells symptom, evidence, cause, fix and verification, and is exit 3', async () => {
  const name = 'kubeadm:node-autoapprove-bootstrap'
  const binding = await cluster.admin.get(resources.clusterRoleBindings, { name })
  await cluster.admin.delete(resources.clusterRoleBindings, { name })
  const { stdout, exitCode } = await doctor()
  const bundle = join(folder, 'bundle.json')
  const collected = await doctor('collect', '-f', bundle)
  const { metadata, ...rest } = binding
  await cluster.admin.create(resources.clusterRoleBindings, { ...rest, metadata: { name: metadata.name } })

  assert.equal(exitCode, 3)
  assert.match(stdout, /^CRIT C01 {2}No role allows the first client certificate/m)
  for (const part of ['at', 'symptom', 'cause', 'evidence', 'fix', 'verify', 'more'])
    assert.match(stdout, new RegExp(`^ {5}${part} +\\S`, 'm'))

  assert.match(collected.stderr, /^wrote .*bundle.json, \d+ bytes\n$/)
  assert.equal((await stat(bundle)).mode & 0o777, 0o600)
  assert.ok(
    !(await readFile(bundle, 'utf8')).includes('0123456789abcdef'),
    'the bootstrap token is not in it',
  )
  const offline = await doctor('--bundle', bundle)
  assert.equal(offline.exitCode, 3, 'the bundle is judged as the cluster was then')
  assert.equal(offline.stdout, stdout)
})

test('the flags of a subcommand reach it', async () => {
  const asked: ConnectionFlags[] = []
  const run = (program: Command, io: CommandIo) => {
    const connect: CommandIo['connect'] = flags => {
      asked.push(flags)
      return io.connect(flags)
    }
    register(program, { ...io, connect }, ports)
  }
  const words = ['collect', '--kubeconfig', 'admin.kubeconfig', '-f', join(folder, 'flags.json')]
  await runCommand(run, cluster.admin, cluster.clock, 'doctor', ...words)
  assert.equal(asked[0]?.kubeconfig, 'admin.kubeconfig')
  const { stdout } = await doctor('node', '-o', 'json', '--cert-dir', folder)
  assert.doesNotThrow(() => JSON.parse(stdout))
})

test('--node leaves out what is found for others', async () => {
  await cluster.register('worker-9', [['InternalIP', '10.0.0.11']])
  assert.equal((await doctor('--node', 'worker-9')).exitCode, 3)
  assert.match((await doctor('--node', 'worker-9')).stdout, /^WARN Z08/m)
  await cluster.join('worker-2', '10.0.0.12')
  await cluster.admin.delete(resources.nodes, { name: 'worker-9' })
  await cluster.join('worker-9', '10.0.0.19')
  await cluster.register('worker-9', [['InternalIP', '10.0.0.11']])
  assert.equal((await doctor('--node', 'worker-2')).exitCode, 0)
  await assert.rejects(
    doctor('--node', 'worker-22'),
    /there is no Node "worker-22", and no request in its name/,
  )
  await cluster.admin.delete(resources.nodes, { name: 'worker-2' })
  await cluster.admin.delete(resources.nodes, { name: 'worker-9' })
})

test('json is the report', async () => {
  const { stdout } = await doctor('-o', 'json')
  const report = JSON.parse(stdout)
  assert.deepEqual(report.findings, [])
  assert.ok(report.checks.length > 50)
})

test('a file that is no bundle, or is not there, is a usage error', async () => {
  for (const file of [join(folder, 'none'), new URL(import.meta.url).pathname])
    await assert.rejects(
      doctor('--bundle', file),
      (error: unknown) => error instanceof RollcallError && error.code === 'USAGE',
    )
})

test('doctor node looks at the files it is given', async () => {
  const { stdout, exitCode } = await doctor(
    ...[
      'node',
      '--cert-dir',
      folder,
      '--kubeconfig',
      join(folder, 'none'),
      '--bootstrap-kubeconfig',
      join(folder, 'no'),
    ],
  )
  assert.equal(exitCode, 3)
  assert.match(stdout, /^CRIT A10/m)
})
