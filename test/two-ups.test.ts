import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, test } from 'node:test'
import { clientOf } from '../src/cluster/demo/running-up.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { listAll } from '../src/kube/client.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../src/kube/types.ts'
import { fleetProcess, processesOf, serials } from './support/data-folder.ts'
import { eventually } from './support/eventually.ts'
import { openssl } from './support/openssl.ts'
import {
  type RollcallProcess,
  runRollcall,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'

const one = temporaryFolder()
const other = temporaryFolder()
const running = new Set<RollcallProcess>()

after(() => {
  one.remove()
  other.remove()
})
afterEach(async () => {
  await Promise.all([...running].map(up => up.stop()))
  running.clear()
})

function start(directory: string, port = '0'): RollcallProcess {
  const args = ['up', '--nodes', '2', '--dir', directory, '--port', port]
  const up = startRollcall(args, {}, { ownGroup: true })
  running.add(up)
  return up
}

async function withAdmin<T>(directory: string, work: (client: KubeClient) => Promise<T>): Promise<T> {
  const { client, transport } = await clientOf(join(directory, 'admin.kubeconfig'))
  try {
    return await work(client)
  } finally {
    transport.closeConnections()
  }
}

const nodes = (directory: string) =>
  withAdmin(directory, async client => (await listAll<KubeNode>(client, resources.nodes)).items)
const requestNames = (directory: string) =>
  withAdmin(directory, async client => {
    const list = await listAll<CertificateSigningRequest>(client, resources.certificateSigningRequests)
    return list.items.map(({ metadata }) => metadata.name).sort()
  })
const serverOf = (directory: string) =>
  /server: (\S+)/.exec(readFileSync(join(directory, 'admin.kubeconfig'), 'utf8'))?.[1] ?? ''
const anotherFleet = (directory: string, killed: number) =>
  eventually('another fleet runs', () => {
    const id = fleetProcess(directory)
    return id !== killed && id
  })
const nothingRuns = (directory: string) =>
  eventually('every process has ended', () => processesOf(directory).length === 0, 10_000)

test('two ups live side by side: each has its own API, ports, CA and certificates', async () => {
  const ups = [start(one.path), start(other.path)]
  await Promise.all(ups.map(({ ready }) => ready))
  assert.notEqual(serverOf(one.path), serverOf(other.path))
  const used = new Set<string>()
  for (const [mine, theirs] of [
    [one.path, other.path],
    [other.path, one.path],
  ] as const) {
    for (const { metadata, status } of await nodes(mine)) {
      const address = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
      const endpoint = `${address}:${status?.daemonEndpoints?.kubeletEndpoint?.Port}`
      used.add(endpoint)
      const connect = (directory: string) =>
        openssl([
          's_client',
          '-connect',
          endpoint,
          '-verify_return_error',
          '-CAfile',
          join(directory, 'pki/ca.crt'),
        ])
      const { code, output } = await connect(mine)
      assert.equal(code, 0, `${metadata.name}: ${output}`)
      assert.notEqual((await connect(theirs)).code, 0, `${metadata.name} is trusted by the other cluster`)
    }
  }
  assert.equal(used.size, 4)
})

test('a directory or a port that another up holds is refused with a sentence that says which', async () => {
  await start(one.path).ready
  const sameDirectory = await runRollcall(['up', '--nodes', '2', '--dir', one.path, '--port', '0'])
  assert.notEqual(sameDirectory.code, 0)
  assert.match(sameDirectory.stderr, new RegExp(`Another rollcall process holds ${one.path}`))
  const { port } = new URL(serverOf(one.path))
  const samePort = await runRollcall(['up', '--nodes', '2', '--dir', other.path, '--port', port])
  assert.notEqual(samePort.code, 0)
  assert.match(samePort.stderr, new RegExp(port))
  assert.equal(samePort.stdout, '')
  assert.deepEqual(processesOf(other.path), [])
})

const endings: [string, (processId: number) => void][] = [
  ['Ctrl-C (SIGINT to the whole process group)', id => process.kill(-id, 'SIGINT')],
  ['SIGINT to the parent alone', id => process.kill(id, 'SIGINT')],
  ['SIGTERM to the parent alone', id => process.kill(id, 'SIGTERM')],
  ['SIGTERM to the whole process group', id => process.kill(-id, 'SIGTERM')],
]
for (const [name, end] of endings) {
  test(`${name} ends everything with exit code 0, and started again nothing is issued again`, async () => {
    const first = start(one.path)
    await first.ready
    const held = serials(one.path)
    const requests = await requestNames(one.path)
    end(first.child.pid ?? 0)
    assert.equal(await first.ended, 0, first.stderr())
    assert.deepEqual(processesOf(one.path), [])
    const second = start(one.path)
    await second.ready
    assert.deepEqual(serials(one.path), held)
    assert.deepEqual(await requestNames(one.path), requests)
  })
}

test('Ctrl-C while the nodes join ends everything with exit code 0 too', async () => {
  const folder = temporaryFolder()
  try {
    const up = start(folder.path)
    await eventually('the nodes start', () => up.stderr().includes('nodes start with a token'))
    process.kill(-(up.child.pid ?? 0), 'SIGINT')
    assert.equal(await up.ended, 0, up.stderr())
    assert.deepEqual(processesOf(folder.path), [])
  } finally {
    folder.remove()
  }
})

test('up goes on when nobody reads its output any more, as after `up | head -1`', async () => {
  const up = start(one.path)
  up.child.stdout?.once('data', () => up.child.stdout?.destroy())
  up.child.stderr?.destroy()
  await eventually('the API answers', () =>
    nodes(one.path).then(
      ({ length }) => length === 2,
      () => false,
    ),
  )
  await eventually('the pipe is closed', () => up.child.stdout?.destroyed)
  const fleet = await eventually('a fleet runs', () => fleetProcess(one.path))
  process.kill(fleet, 'SIGKILL')
  await anotherFleet(one.path, fleet)
  assert.equal(await up.stop(), 0)
})

test('kill -9 of the parent: the fleet ends by itself, and started again nothing is issued again', async () => {
  const first = start(one.path)
  await first.ready
  const held = serials(one.path)
  first.child.kill('SIGKILL')
  assert.equal(await first.ended, 'SIGKILL')
  await nothingRuns(one.path)
  const second = start(one.path)
  await second.ready
  assert.deepEqual(serials(one.path), held)
})

test('kill -9 of the fleet: it is started again, serves again, and nothing is issued again', async () => {
  const up = start(one.path)
  await up.ready
  const held = serials(one.path)
  const requests = await requestNames(one.path)
  const killed = fleetProcess(one.path)
  assert.ok(killed)
  process.kill(killed, 'SIGKILL')
  await anotherFleet(one.path, killed)
  for (const { metadata, status } of await nodes(one.path)) {
    const address = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
    const port = status?.daemonEndpoints?.kubeletEndpoint?.Port
    const verify = ['-verify_return_error', '-verify_hostname', metadata.name]
    const connect = ['s_client', '-connect', `${address}:${port}`, '-CAfile', join(one.path, 'pki/ca.crt')]
    await eventually(`${metadata.name} serves at ${address}:${port} again`, async () => {
      return (await openssl([...connect, ...verify])).code === 0
    })
  }
  assert.deepEqual(serials(one.path), held)
  assert.deepEqual(await requestNames(one.path), requests)
  await up.stop()
  await nothingRuns(one.path)
})
