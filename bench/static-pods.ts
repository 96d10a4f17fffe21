// From the start of the agent to the answer of a static pod's socket, from an edit to the new process, and what the agent
// costs when nothing happens; on both runtimes. `npm run build` first: dist/ is what users run.
// Usage: node bench/static-pods.ts [PATH/OF/main.js]
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Containerd, noContainerd, startContainerd } from '../test/support/containerd.ts'
import { eventually } from '../test/support/eventually.ts'
import { freePort } from '../test/support/free-port.ts'
import {
  inContainerd,
  type MachineRuntime,
  processes,
  staticPodMachine,
} from '../test/support/static-pods.ts'
import { cpuOf, line, median, residentMemory } from './measure.ts'

const RUNS = Number(process.env.ROLLCALL_BENCH_RUNS ?? 20)
/** Seconds that the agent is watched for while nothing happens, after it has come to rest. */
const IDLE = Number(process.env.ROLLCALL_BENCH_IDLE ?? 60)
const REST = 15

const built = process.argv[2] ?? fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const program = existsSync(built) ? built : fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

/** As bin/rollcall starts an agent. */
const smallHeap = [
  '--max-semi-space-size=1',
  '--v8-pool-size=1',
  '--optimize-for-size',
  '--no-opt',
  '--no-maglev',
]

/** As bin/rollcall keeps it. */
const compileCache = join(tmpdir(), 'rollcall-bench-cache')

/** Milliseconds from `began` until something listens. */
async function answered(port: number, began: number): Promise<number> {
  for (;;) {
    const isOpen = await new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('close', () => socket.destroy())
    })
    if (isOpen) return performance.now() - began
    if (performance.now() - began > 60_000) throw new Error(`nothing answers at port ${port} after a minute`)
    await setTimeout(2)
  }
}

type BenchMachine = ReturnType<typeof staticPodMachine>

function startAgent(machine: BenchMachine, flags: string[]) {
  const args = ['--node', 'node-a', '--address', '127.0.0.1', '--port', '0', ...flags]
  const paths = ['--kubeconfig', machine.in('kubeconfig'), '--cert-dir', machine.in('pki')]
  const pods = ['--static-pods', machine.directory, '--static-pods-state', machine.stateDirectory]
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...smallHeap, program, 'agent', ...args, ...paths, ...pods],
    { stdio: 'ignore', env: { ...process.env, NODE_COMPILE_CACHE: compileCache } },
  )
  const end = () =>
    new Promise(resolve => {
      child.once('exit', resolve)
      child.kill('SIGTERM')
    })
  return { processId: child.pid ?? 0, end }
}

const serving = (port: number) =>
  `trap 'kill $!; exit 0' TERM; busybox httpd -f -p 127.0.0.1:${port} -h / & wait`

function writePod(machine: BenchMachine, port: number): void {
  machine.write({ name: 'web', script: serving(port) })
}

/** Milliseconds that the pod's own process takes to answer, without any agent, behind a Node.js that does nothing else. */
async function floor(): Promise<number> {
  const port = await freePort()
  const start = `require('node:child_process').spawn('/bin/sh', ['-c', process.argv[1]], { stdio: 'ignore' })`
  const began = performance.now()
  const node = spawn(process.execPath, ['-e', start, serving(port)], { stdio: 'ignore', detached: true })
  const ended = new Promise(resolve => node.once('exit', resolve))
  const time = await answered(port, began)
  // All of its process group.
  process.kill(-(node.pid ?? 0), 'SIGTERM')
  await ended
  return time
}

/** Milliseconds from the start of the agent to the socket, and from the edit to the socket of the new one. */
async function once(kind: MachineRuntime, flags: string[]): Promise<{ start: number; edit: number }> {
  const machine = staticPodMachine(kind)
  try {
    const [port, next] = [await freePort(), await freePort()]
    writePod(machine, port)
    const began = performance.now()
    const agent = startAgent(machine, flags)
    const start = await answered(port, began)
    const edited = performance.now()
    writePod(machine, next)
    const edit = await answered(next, edited)
    await agent.end()
    return { start, edit }
  } finally {
    await machine.close()
  }
}

function switchesOf(processId: number): number {
  return Number(
    /^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1],
  )
}

async function idle(kind: MachineRuntime, flags: string[]) {
  const machine = staticPodMachine(kind)
  try {
    machine.write({ name: 'web', script: machine.service('web') })
    const agent = startAgent(machine, flags)
    await eventually('the pod runs', () => machine.lines('web').length === 1)
    await setTimeout(REST * 1000)
    const [cpu, switches] = [cpuOf(agent.processId), switchesOf(agent.processId)]
    await setTimeout(IDLE * 1000)
    const percent = (cpuOf(agent.processId) - cpu) / (IDLE * 10)
    const wakeUps = (switchesOf(agent.processId) - switches) / IDLE
    const memory = residentMemory(agent.processId)
    await agent.end()
    return { percent, wakeUps, memory }
  } finally {
    await machine.close()
  }
}

const percentile = (values: readonly number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(values.length * part) - 1)] ??
  Number.NaN

async function measure(
  name: string,
  kind: MachineRuntime,
  flags: string[],
  limits: [start: string, idle: string],
) {
  await once(kind, flags) // fills the compile cache
  const runs: { start: number; edit: number }[] = []
  for (let run = 0; run < RUNS; run++) runs.push(await once(kind, flags))
  const floors: number[] = []
  for (let run = 0; run < 5; run++) floors.push(await floor())
  const shown = (values: number[]) =>
    `p50 ${Math.round(median(values))} ms, p95 ${Math.round(percentile(values, 0.95))} ms`
  line(
    `pods ${name}: start`,
    `${shown(runs.map(({ start }) => start))} to the socket's answer (${RUNS} runs; ${limits[0]})`,
    `a Node.js that only starts the pod's process: ${Math.round(median(floors))} ms; a kubelet: 0.9–2.2 s`,
  )
  line(
    `pods ${name}: edit`,
    `${shown(runs.map(({ edit }) => edit))} to the new one's answer (target 1 s + grace)`,
    'a kubelet: 13 s',
  )
  const { percent, wakeUps, memory } = await idle(kind, flags)
  line(
    `pods ${name}: idle`,
    `${memory.toFixed(0)} MiB resident, ${percent.toFixed(2)} % of a core, ${wakeUps.toFixed(1)} wake-ups a second (${limits[1]})`,
    'a kubelet: about 90 MiB',
  )
}

await measure(
  'process',
  processes,
  ['--runtime', 'process', '--static-pods-as-root'],
  ['target p95 150 ms', 'target 80 MiB, 0.5 wake-ups'],
)
if (noContainerd) line('pods cri', `not run: ${noContainerd}`, '')
else {
  const containerd: Containerd = await startContainerd()
  try {
    const flags = ['--runtime', 'cri', '--container-runtime-endpoint', containerd.endpoint]
    await measure('cri', inContainerd(containerd), flags, ['target p95 600 ms', 'target 95 MiB, 0.5 %'])
  } finally {
    await containerd.close()
  }
}
