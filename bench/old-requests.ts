// What a server does with very many old requests in its store, controllers and all: how soon a new one has its certificate,
// and what is resident at most until everything was read. node bench/old-requests.ts [REQUESTS]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../src/host/clock.ts'
import { systemDisk } from '../src/host/disk.ts'
import { createClient, type KubeClient } from '../src/kube/client.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { connectionConfig } from '../src/kube/kubeconfig-connection.ts'
import { type CertificateSigningRequest, resources } from '../src/kube/types.ts'
import { connectUndici } from '../src/kube/undici-transport.ts'
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { csrPrefix, fillDatabase, type Make } from './fill-database.ts'
import { cpuOf, line, residentMemory, whole } from './measure.ts'
import { type Asked, requests } from './requests.ts'

const REQUESTS = Number(process.argv[2] ?? 100_000)
const folder = temporaryFolder()
const csrs = resources.certificateSigningRequests

async function clientOf(kubeconfig: string): Promise<{ client: KubeClient; close(): void }> {
  const path = join(folder.path, kubeconfig)
  const context = selectContext(parseKubeconfig(readFileSync(path, 'utf8'), path))
  const transport = connectUndici(
    await connectionConfig(context, path, { clock: systemClock, disk: systemDisk }),
  )
  return { client: createClient(transport), close: () => transport.closeConnections() }
}

/** Asks, and waits for the certificate. */
async function certify({ csr }: Asked): Promise<CertificateSigningRequest> {
  const { client, close } = await clientOf('bootstrap.kubeconfig')
  await client.create(csrs, csr)
  for (;;) {
    const found = await client.get<CertificateSigningRequest>(csrs, csr.metadata)
    if (found.status?.certificate) {
      close()
      return found
    }
    await sleep(20)
  }
}

const peak = (processId: number) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1]) / 1024

const [asked, another] = await requests(2, 'client')
if (!asked || !another) throw new RangeError('no request')
const program = ['server', '--dir', folder.path, '--port', '0']
const first = startRollcall(program)
await first.ready
const answered = await certify(asked)
await first.stop()

const past = new Date(Date.now() - 2 * 86_400_000).toISOString().replace(/\.\d+Z$/, 'Z')
const make: Make = index => ({
  ...answered,
  metadata: {
    name: `old-${index}`,
    uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    creationTimestamp: past,
  },
  status: {
    ...answered.status,
    conditions: answered.status?.conditions?.map(condition => ({
      ...condition,
      lastUpdateTime: past,
      lastTransitionTime: past,
    })),
  },
})
fillDatabase(join(folder.path, 'state.db'), { [csrPrefix]: { count: REQUESTS, make } })

const began = performance.now()
const server = startRollcall(program)
await server.ready
const processId = server.child.pid ?? 0
const ready = (performance.now() - began) / 1000
await certify(another)
const decided = { wall: (performance.now() - began) / 1000, cpu: cpuOf(processId) / 1000 }
const { client, close } = await clientOf('admin.kubeconfig')
let longest = 0
for (;;) {
  const asked = performance.now()
  const metrics = await client.raw('/metrics')
  longest = Math.max(longest, performance.now() - asked)
  if (/^rollcall_csr_stored\{/m.test(metrics)) break
  await sleep(50)
}
const read = { wall: (performance.now() - began) / 1000, cpu: cpuOf(processId) / 1000 }
const memory = { most: peak(processId), now: residentMemory(processId) }
close()
await server.stop()
folder.remove()
line(
  'old requests',
  `${whole(REQUESTS)} requests of two days ago: ready after ${ready.toFixed(1)} s; a new one certified after ${decided.wall.toFixed(1)} s ` +
    `(${decided.cpu.toFixed(1)} s of CPU); all read after ${read.wall.toFixed(1)} s (${read.cpu.toFixed(1)} s of CPU), the slowest answer ` +
    `meanwhile ${whole(longest)} ms; ${whole(memory.most)} MiB resident at most`,
  'targets: certified ≤ 10 s, ≤ 300 MiB with 500,000',
)
