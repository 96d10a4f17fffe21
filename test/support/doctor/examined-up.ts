/** A real `rollcall up` to break in one way after the other, and what `rollcall doctor` says of it. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Command } from 'commander'
import { register as registerDoctor } from '../../../src/cli/doctor.ts'
import { systemIo } from '../../../src/cli/system-io.ts'
import type { Report } from '../../../src/doctor/diagnose.ts'
import { judged } from '../../../src/doctor/testing/examined-cluster.ts'
import { createClient, type KubeClient } from '../../../src/kube/client.ts'
import type { ConnectionConfig, Transport } from '../../../src/kube/transport.ts'
import { type Lease, resources } from '../../../src/kube/types.ts'
import { connectUndici } from '../../../src/kube/undici-transport.ts'
import type { Clock } from '../../../src/ports.ts'
import { connectionOf } from '../api-connection.ts'
import { eventually } from '../eventually.ts'
import { startRollcall, temporaryFolder } from '../rollcall-process.ts'
import { keepNode } from './examined-node.ts'
import { putBack, snapshot } from './put-back.ts'

/** One way to break a cluster, and the id that is to be found, alone. */
export interface Fault {
  id: string
  /** What is broken, in words. */
  what: string
  /** Ids that are found beside it, and are no louder. */
  also?: readonly string[]
  /** Why it cannot be made on this machine. */
  skip?: string | undefined
  /** Arguments of `rollcall doctor`, behind which it stands what it looks at; absent: the cluster, by the administrator. */
  args?(up: ExaminedUp): string[]
  /** What it changes in the API and in the folder of node worker-1 is put back. */
  make(up: ExaminedUp): unknown
  /** What else is to be mended. */
  undo?(up: ExaminedUp): unknown
  /** What it changed in the API stays, since others go on with it. */
  lasting?: boolean
}

export interface ExaminedUp {
  /** In its data directory. */
  path(...names: string[]): string
  /** In a folder for what tests write. */
  scratch(name: string): string
  admin: KubeClient
  /** Who holds the bootstrap token of the cluster, and nothing else. */
  bootstrapper: KubeClient
  transport: Transport
  config: ConnectionConfig
  /** Milliseconds since the epoch, by the clock of the control plane and of the doctor. */
  now(): number
  /** They are this many milliseconds ahead from now on. */
  setAhead(milliseconds: number): void
  doctor(...args: string[]): Promise<Report>
  /** It is done when the fault is mended. */
  onMend(work: () => void): void
  /** Another process runs the nodes from now on, whose clock is this many milliseconds ahead. */
  restartNodes(ahead: number): Promise<void>
  /** Resolves when nodes and controllers have renewed their Leases by the right time. */
  settled(): Promise<unknown>
  /** Process id of the child that holds the nodes. */
  fleet(): number
  /** Breaks, looks, mends. */
  prove(fault: Fault): Promise<void>
  stop(): Promise<unknown>
}

const fleetNodes = 3

/** Milliseconds: so long before now it starts, so that something can have happened since. */
const began = 3 * 3_600_000

/** `args` and `environment` are added to those that it is started with. */
export async function startExaminedUp({
  args = [],
  environment = {},
}: {
  args?: string[]
  environment?: Record<string, string>
} = {}): Promise<ExaminedUp> {
  const folder = temporaryFolder()
  const scratch = temporaryFolder()
  const clocks = { up: join(scratch.path, 'up-clock'), fleet: join(scratch.path, 'fleet-clock') }
  for (const file of Object.values(clocks)) writeFileSync(file, String(-began))
  const preload = pathToFileURL(join(import.meta.dirname, 'shifted-clock.mjs')).href
  const up = startRollcall(
    ['up', '--nodes', String(fleetNodes), '--dir', folder.path, '--port', '0', '--no-dashboard', ...args],
    {
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${preload}`,
      ROLLCALL_TEST_CLOCK: clocks.up,
      ROLLCALL_TEST_FLEET_CLOCK: clocks.fleet,
      ...environment,
    },
  )
  await up.ready
  const adminKubeconfig = join(folder.path, 'admin.kubeconfig')
  const config = await connectionOf(adminKubeconfig)
  const transport = connectUndici(config)
  const joining = connectUndici(await connectionOf(join(folder.path, 'bootstrap.kubeconfig')))
  let ahead = -began
  const mending: (() => void)[] = []
  const now = () => Date.now() + ahead
  const examined: ExaminedUp = {
    path: (...names) => join(folder.path, ...names),
    scratch: name => join(scratch.path, name),
    admin: createClient(transport),
    bootstrapper: createClient(joining),
    transport,
    config,
    now,
    setAhead(milliseconds) {
      ahead = milliseconds
      replace(clocks.up, String(milliseconds))
    },
    onMend: work => void mending.push(work),
    async restartNodes(ahead) {
      replace(clocks.fleet, String(ahead))
      const killed = examined.fleet()
      process.kill(killed, 'SIGKILL')
      await eventually('other nodes run', () => examined.fleet() !== killed)
      await eventually('the nodes live on', () => beatenBy(examined, ahead))
    },
    async settled() {
      await eventually('all live by the right time', () => beatenBy(examined, 0))
    },
    doctor: (...args) => doctor({ ...systemIo.clock, now }, args, adminKubeconfig),
    fleet: () => Number(readFileSync(join(folder.path, 'fleet.pid'), 'utf8').split(' ')[0]),
    async prove(fault) {
      const before = await snapshot(examined.admin)
      const args = fault.args?.(examined) ?? []
      const mendNode = args[0] === 'node' ? keepNode(examined) : () => {}
      try {
        await fault.make(examined)
        judged(await examined.doctor(...args), fault.id, fault.also)
      } finally {
        for (const mend of mending.splice(0)) mend()
        await fault.undo?.(examined)
        mendNode()
        if (!fault.lasting) await putBack(examined.admin, before)
      }
    },
    async stop() {
      transport.closeConnections()
      joining.closeConnections()
      await up.stop()
      folder.remove()
      scratch.remove()
    },
  }
  examined.setAhead(0)
  await examined.restartNodes(0)
  return examined
}

/** Whether each node has renewed its Lease by a clock that is so far ahead, and the controllers by the right one. */
async function beatenBy({ admin }: ExaminedUp, ahead: number): Promise<boolean> {
  const { items } = await admin.list<Lease>(resources.leases)
  return items.every(({ metadata: { name, namespace }, spec }) => {
    const late = Date.parse(spec?.renewTime ?? '') - Date.now()
    if (namespace === 'kube-node-lease') return Math.abs(late - ahead) < 30_000
    return name !== 'rollcall-controller' || Math.abs(late) < 30_000
  })
}

/** At once: the clock is read in the middle of a write otherwise. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

/** `rollcall doctor`, over a real connection, without another process. */
async function doctor(clock: Clock, args: string[], kubeconfig: string): Promise<Report> {
  let stdout = ''
  const program = new Command('rollcall').exitOverride()
  registerDoctor(program, {
    ...systemIo,
    clock,
    stdout: text => {
      stdout += text
    },
    exitWith: () => {},
  })
  const where = ['node', '--kubeconfig', '--bundle'].some(word => args.includes(word))
    ? []
    : ['--kubeconfig', kubeconfig]
  await program.parseAsync(['doctor', ...args, ...where, '-o', 'json'], { from: 'user' })
  return JSON.parse(stdout)
}
