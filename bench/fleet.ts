// N nodes join a new control plane, end to end: node bench/fleet.ts [N]
import { fleetProcess } from '../test/support/data-folder.ts'
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { cpuOf, line, opensslSpeed, residentMemory, whole } from './measure.ts'

interface Join {
  /** Seconds from the first sign of the nodes to ready. */
  seconds: number
  /** Milliseconds of CPU that control plane and controllers took, their own start included. */
  serverCpu: number
  fleetCpu: number
  /** MiB. */
  serverMemory: number
  fleetMemory: number
}

async function join(nodes: number): Promise<Join> {
  const folder = temporaryFolder()
  const up = startRollcall(['up', '--nodes', String(nodes), '--dir', folder.path, '--port', '0'])
  const server = up.child.pid ?? 0
  const { promise: begun, resolve } = Promise.withResolvers<number>()
  up.child.stderr?.once('data', () => resolve(performance.now()))
  await up.ready
  const seconds = (performance.now() - (await begun)) / 1000
  const fleet = fleetProcess(folder.path) ?? 0
  const result = {
    seconds,
    serverCpu: cpuOf(server),
    fleetCpu: cpuOf(fleet),
    serverMemory: residentMemory(server),
    fleetMemory: residentMemory(fleet),
  }
  await up.stop()
  folder.remove()
  return result
}

const nodes = Number(process.argv[2] ?? 50)
await join(1) // fills the compile cache
const base = await join(1)
const many = await join(nodes)
const certificates = 2 * nodes
const more = nodes - 1
const serverCpu = (many.serverCpu - base.serverCpu) / (2 * more)
const fleetCpu = (many.fleetCpu - base.fleetCpu) / (2 * more)
const { signs, verifies } = await opensslSpeed()
const limit = 1000 / signs + 1000 / verifies
line(
  `fleet of ${nodes}`,
  `${whole(certificates / many.seconds)} certificates/s (${certificates} in ${many.seconds.toFixed(1)} s); CPU a certificate: ` +
    `server ${serverCpu.toFixed(1)} ms, node ${fleetCpu.toFixed(1)} ms; memory a node: ` +
    `server ${whole((1024 * (many.serverMemory - base.serverMemory)) / more)} KiB (${whole(many.serverMemory)} MiB in all), ` +
    `node ${whole((1024 * (many.fleetMemory - base.fleetMemory)) / more)} KiB`,
  `one signature and one verification by openssl: ${limit.toFixed(2)} ms a certificate`,
)
