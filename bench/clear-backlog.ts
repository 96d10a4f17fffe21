// How fast the approver clears waiting requests: serving requests of as many nodes, judged against their Nodes and approved
// over the API, beside a bare loop of PUT /approval. node bench/clear-backlog.ts [REQUESTS]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultPolicySpec } from '../src/cluster/approval-policy.ts'
import { systemClock } from '../src/host/clock.ts'
import { systemDisk } from '../src/host/disk.ts'
import { createClient } from '../src/kube/client.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { connectionConfig } from '../src/kube/kubeconfig-connection.ts'
import { certificatePolicies } from '../src/kube/rollcall/certificate-policy.ts'
import { type CertificateSigningRequest, resources } from '../src/kube/types.ts'
import { connectUndici } from '../src/kube/undici-transport.ts'
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { csrPrefix, fillDatabase, nodePrefix } from './fill-database.ts'
import { cpuOf, inParallel, line, micros, percent, whole } from './measure.ts'
import { requests } from './requests.ts'

const REQUESTS = Number(process.argv[2] ?? 10_000)
/** As many as the approver has workers (C-2). */
const WIDTH = 5

const folder = temporaryFolder()
const program = ['server', '--no-controllers', '--dir', folder.path, '--port', '0']
const first = startRollcall(program)
await first.ready
await first.stop()

// Half of them for the bare loop, so that both write to requests nobody wrote to before.
const asked = await requests(2 * REQUESTS, 'serving')
const created = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
const metadata = (name: string, index: number) => ({
  name,
  uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  creationTimestamp: created,
})
const at = (index: number) => asked[index] ?? fail('no request')
const fail = (why: string): never => {
  throw new RangeError(why)
}
fillDatabase(join(folder.path, 'state.db'), {
  [csrPrefix]: {
    count: asked.length,
    make: index => ({ ...at(index).csr, metadata: metadata(`csr-${index}`, index) }),
  },
  [nodePrefix]: {
    count: asked.length,
    make: index => ({ ...at(index).node, metadata: metadata(`node-${index}`, index) }),
  },
})
const server = startRollcall(program)
await server.ready
const path = join(folder.path, 'admin.kubeconfig')
const context = selectContext(parseKubeconfig(readFileSync(path, 'utf8'), path))
const transport = connectUndici(
  await connectionConfig(context, path, { clock: systemClock, disk: systemDisk }),
)
const client = createClient(transport)
const csrs = resources.certificateSigningRequests

/** What a human's client sends: the request as it was read, and the condition. */
async function approve(csr: CertificateSigningRequest): Promise<void> {
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'Bare',
    message: 'approved by a loop',
  } as const
  await client.update(csrs, { ...csr, status: { conditions: [condition] } }, { subresource: 'approval' })
}
const { items } = await client.list<CertificateSigningRequest>(csrs, { limit: 0 })
const bareRequests = items.filter(({ metadata: { name } }) => Number(name.slice('csr-'.length)) >= REQUESTS)
const warmUp = bareRequests.splice(0, REQUESTS / 10)
await inParallel(warmUp, WIDTH, approve)
/** Requests a second. */
async function bareRate(count: number, width: number): Promise<number> {
  const some = bareRequests.splice(0, count)
  const began = performance.now()
  await inParallel(some, width, approve)
  return (1000 * some.length) / (performance.now() - began)
}
const oneByOne = await bareRate(Math.floor(bareRequests.length / 3), 1)
const bare = await bareRate(bareRequests.length, WIDTH)
await client.create(certificatePolicies, {
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'CertificatePolicy',
  metadata: { name: 'default' },
  spec: defaultPolicySpec([]),
})

const controller = startRollcall([
  ...['controller', '--kubeconfig', path, '--only', 'approval', '--no-leader-election'],
])
// What it says of each: to ask for its metrics would cost it milliseconds each time.
const said = /"outcome":"Approve"/g
let approved = 0
let told = Promise.withResolvers<void>()
controller.child.stderr?.on('data', (text: string) => {
  approved += text.match(said)?.length ?? 0
  told.resolve()
  told = Promise.withResolvers()
})
/** When so many were approved, at least. */
async function reached(count: number): Promise<{ at: number; count: number }> {
  while (approved < count) await told.promise
  return { at: performance.now(), count: approved }
}
await controller.ready
const begin = await reached(REQUESTS / 10)
const cpu = cpuOf(controller.child.pid ?? 0)
const end = await reached(REQUESTS)
const each = (cpuOf(controller.child.pid ?? 0) - cpu) / (end.count - begin.count)
const rate = (1000 * (end.count - begin.count)) / (end.at - begin.at)
transport.closeConnections()
await controller.stop()
await server.stop()
folder.remove()
line(
  'clear backlog',
  `${whole(REQUESTS)} waiting requests approved at ${whole(rate)}/s (${micros(each)} of the controller's CPU each)`,
  `a bare loop of PUT /approval: ${whole(oneByOne)}/s one after the other, reached ${percent(rate, oneByOne)}; ` +
    `${whole(bare)}/s with ${WIDTH} under way, reached ${percent(rate, bare)}; target ≥ 80 %`,
)
