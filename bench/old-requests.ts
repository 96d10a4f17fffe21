// What very many old requests in the store cost: how soon after its start the approver decides a new one, what is resident
// then, and what at most until all were read. `rollcall controller` alone, beside an API in another process; then a server
// that is both. node bench/old-requests.ts [REQUESTS]
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import { type RollcallProcess, startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { cpuOf, line, residentMemory, whole } from './measure.ts'
import { certify, clientOf, makeOldDatabase, mostResident } from './old-database.ts'
import type { Asked } from './requests.ts'

const REQUESTS = Number(process.argv[2] ?? 100_000)
const folder = temporaryFolder()
const serverArgs = ['server', '--dir', folder.path, '--port', '0']

/** Of a process that was just started; `metrics` reads its Prometheus metrics. */
async function measure(
  { child, ready }: RollcallProcess,
  asked: Asked,
  until: 'approved' | 'issued',
  metrics: () => Promise<string>,
): Promise<string> {
  const began = performance.now()
  const processId = child.pid ?? 0
  const seconds = () => (performance.now() - began) / 1000
  const cpu = () => `${(cpuOf(processId) / 1000).toFixed(1)} s of CPU`
  await ready
  const started = seconds()
  await certify(folder.path, asked, until)
  const decided = `a new one ${until} after ${seconds().toFixed(1)} s (${cpu()}), ${whole(residentMemory(processId))} MiB resident then`
  let longest = 0
  for (;;) {
    const before = performance.now()
    const text = await metrics()
    longest = Math.max(longest, performance.now() - before)
    if (/^rollcall_csr_stored\{/m.test(text)) break
    await sleep(50)
  }
  const read = `all read after ${seconds().toFixed(1)} s (${cpu()}), the slowest answer meanwhile ${whole(longest)} ms`
  return `ready after ${started.toFixed(1)} s; ${decided}; ${read}; ${whole(mostResident(processId))} MiB at most`
}

const [forController, forServer] = await makeOldDatabase(folder.path, REQUESTS)
if (!forController || !forServer) throw new RangeError('no request')

const api = startRollcall([...serverArgs, '--no-controllers'])
await api.ready
const port = await freePort()
const controller = startRollcall([
  ...['controller', '--kubeconfig', `${folder.path}/admin.kubeconfig`, '--only', 'approval'],
  ...['--no-leader-election', '--metrics-listen', `127.0.0.1:${port}`],
])
const alone = await measure(controller, forController, 'approved', async () =>
  (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
)
await controller.stop()
await api.stop()

const server = startRollcall(serverArgs)
let admin: Awaited<ReturnType<typeof clientOf>> | undefined
const both = await measure(server, forServer, 'issued', async () => {
  admin ??= await clientOf(folder.path, 'admin.kubeconfig')
  return admin.client.raw('/metrics')
})
admin?.close()
await server.stop()
folder.remove()

const what = `${whole(REQUESTS)} requests of two days ago`
line(
  'old requests',
  `rollcall controller beside ${what}: ${alone}`,
  'targets with 500,000: decided ≤ 10 s, < 286 MiB (300 MB)',
)
line('old requests, server', `API and controllers in one process over ${what}: ${both}`, 'no target')
