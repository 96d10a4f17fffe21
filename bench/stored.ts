// Start, memory and lists with much in the store: node bench/stored.ts [REQUESTS] [NODES]
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { adminSessions, get } from './admin-session.ts'
import { csrPrefix, fillDatabase, type Make, nodePrefix } from './fill-database.ts'
import { cpuOf, line, residentMemory, whole } from './measure.ts'
import { requests } from './requests.ts'

const REQUESTS = Number(process.argv[2] ?? 100_000)
const NODES = Number(process.argv[3] ?? 10_000)
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

const [asked] = await requests(1, 'client')
if (!asked) throw new RangeError('no request')
const created = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
const metadata = (name: string, index: number) => ({
  name,
  uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  creationTimestamp: created,
})
const condition = (type: string) => ({
  type,
  status: 'True',
  reason: 'KubeletReady',
  message: 'kubelet is posting ready status',
  lastHeartbeatTime: created,
  lastTransitionTime: created,
})

/** Answered, as most requests are that lie about. */
const request: Make = index => ({
  kind: 'CertificateSigningRequest',
  apiVersion: 'certificates.k8s.io/v1',
  metadata: metadata(`csr-${index}`, index),
  spec: asked.csr.spec,
  status: { conditions: [condition('Approved')], certificate: asked.csr.spec.request },
})
const node: Make = index => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { ...metadata(`node-${index}`, index), labels: { 'kubernetes.io/hostname': `node-${index}` } },
  spec: {},
  status: {
    addresses: [{ type: 'InternalIP', address: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}` }],
    conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map(condition),
    nodeInfo: { kubeletVersion: 'v1.36.0', osImage: 'Debian GNU/Linux 13', kernelVersion: '6.12.0' },
  },
})

const folder = temporaryFolder()
const program = ['server', '--no-controllers', '--dir', folder.path, '--port', '0']
const first = startRollcall(program)
await first.ready
await first.stop()
fillDatabase(join(folder.path, 'state.db'), {
  [csrPrefix]: { count: REQUESTS, make: request },
  [nodePrefix]: { count: NODES, make: node },
})
const server = startRollcall(program)
await server.ready
const serverProcess = server.child.pid ?? 0
const start = cpuOf(serverProcess)
const memory = residentMemory(serverProcess)
const session = (await adminSessions(folder.path))()

/** After its start a server looks through everything once for owners that are gone; a list is to be measured without that. */
async function settled(): Promise<void> {
  for (let before = cpuOf(serverProcess); ; ) {
    await setTimeout(500)
    const now = cpuOf(serverProcess)
    if (now - before < 25) return
    before = now
  }
}

/** Milliseconds of CPU. */
async function costOf(accept?: string): Promise<number> {
  const before = cpuOf(serverProcess)
  await get(session, '/api/v1/nodes', accept)
  return cpuOf(serverProcess) - before
}
await settled()
const looked = cpuOf(serverProcess)
const json = await costOf()
const asTable = await costOf(table)
const afterLists = residentMemory(serverProcess)
session.destroy()
await server.stop()
folder.remove()
line(
  'stored',
  `${whole(REQUESTS)} requests and ${whole(NODES)} Nodes: start ${(start / 1000).toFixed(1)} s of CPU, ${(looked / 1000).toFixed(1)} s until all was looked through for owners, ${whole(memory)} MiB resident; ` +
    `all Nodes as JSON ${whole(json)} ms of CPU, as Table ${whole(asTable)} ms, ${whole(afterLists)} MiB after`,
  'targets: ≤ 450 MiB, JSON ≤ 400 ms, Table ≤ 700 ms',
)
