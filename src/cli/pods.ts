import type { Command } from 'commander'
import { RollcallError, systemCode } from '../errors.ts'
import { systemDisk } from '../host/disk.ts'
import { formatAge } from '../kube/time-format.ts'
import { CriLines } from '../pods/logs/cri-lines.ts'
import { type ReportedPod, reportName, type StaticPodReport } from '../pods/status/pod-report.ts'
import type { ContainerStatus } from '../pods/status/pod-status.ts'
import type { CommandIo } from './command-io.ts'
import { addOutputOption, type OutputFormat, print } from './output.ts'
import { defaultPodState } from './pod-state.ts'
import { printable } from './printable.ts'
import { alignColumns, type Column, formatTable } from './table.ts'

interface PodsFlags {
  state: string
  output: OutputFormat
}

interface LogFlags {
  state: string
  container?: string
  previous?: boolean
}

const stateHelp = "the agent's --static-pods-state"

export function register(program: Command, io: CommandIo): void {
  const pods = program
    .command('pods')
    .description('show the static pods of this machine and what is wrong with their manifests; needs no API')
  addOutputOption(pods.option('--state <dir>', stateHelp, defaultPodState)).action(
    async (flags: PodsFlags) => {
      const report = await readReport(flags.state)
      print(io, flags.output, { text: wide => formatReport(report, io.clock.now(), wide), value: report })
      io.exitWith(
        report.findings.some(({ severity }) => severity === 'error') || report.runtimeProblem ? 3 : 0,
      )
    },
  )
  pods
    .command('logs')
    .argument('<pod>', 'name, with or without namespace/ before and the node behind')
    .description('print what a container of a static pod wrote')
    .option('-c, --container <name>', 'which container')
    .option('-p, --previous', 'of the run before the last')
    .option('--state <dir>', stateHelp, defaultPodState)
    .action(async (name: string, _: LogFlags, command: Command) => {
      const flags = command.optsWithGlobals<LogFlags>()
      io.stdout(await readLog(await readReport(flags.state), name, flags))
    })
}

async function readReport(state: string): Promise<StaticPodReport> {
  try {
    return JSON.parse(
      new TextDecoder().decode(await systemDisk.read(`${state}/${reportName}`)),
    ) as StaticPodReport
  } catch (error) {
    const code = systemCode(error)
    if (code === undefined) throw error
    const why =
      code === 'EACCES'
        ? 'only the user of the agent may read it'
        : 'no agent with --static-pods has run there'
    throw new RollcallError(
      'POD_UNKNOWN',
      `${state}/${reportName} cannot be read (${code}): ${why}; see --state.`,
    )
  }
}

const columns = (now: number): Column<ReportedPod>[] => [
  { title: 'namespace', cell: pod => pod.namespace },
  { title: 'name', cell: pod => pod.name },
  {
    title: 'ready',
    cell: ({ status }) =>
      `${status.containerStatuses.filter(({ ready }) => ready).length}/${status.containerStatuses.length}`,
  },
  { title: 'status', cell: shownStatus },
  {
    title: 'restarts',
    cell: ({ status }) =>
      String(status.containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0)),
  },
  {
    title: 'age',
    cell: ({ status }) => (status.startTime ? formatAge(now - Date.parse(status.startTime)) : ''),
  },
  { title: 'uid', cell: pod => pod.uid, wide: true },
  { title: 'manifest', cell: pod => pod.manifest, wide: true },
]

function formatReport(report: StaticPodReport, now: number, wide: boolean): string {
  const table =
    report.pods.length === 0 ? 'There is no static pod here.\n' : formatTable(columns(now), report.pods, wide)
  const waiting = report.pods.flatMap(({ name, status }) => (status.message ? [[name, status.message]] : []))
  const unmet = report.runtime.conditions.filter(({ status }) => !status)
  const lines = [
    ...unmet.map(({ type, message }) => [report.runtime.name, `${type} is false: ${message}`]),
    ...(report.runtimeProblem ? [['runtime', report.runtimeProblem]] : waiting),
    ...report.findings.map(({ path, severity, message }) => [`${severity} ${path}`, message]),
  ]
  return table + (lines.length === 0 ? '' : `\n${alignColumns(lines.map(line => line.map(printable)))}`)
}

/** As kubectl: what keeps the first container that does not run from running, else the phase. */
function shownStatus({ status }: ReportedPod): string {
  return status.reason ?? status.containerStatuses.map(stateReason).find(Boolean) ?? status.phase
}

function stateReason({ state }: ContainerStatus): string | undefined {
  const { waiting, terminated } = state as { waiting?: { reason?: string }; terminated?: { reason?: string } }
  return waiting?.reason ?? terminated?.reason
}

async function readLog(
  report: StaticPodReport,
  name: string,
  { container, previous }: LogFlags,
): Promise<string> {
  const pod = findPod(report, name)
  const asked = container ?? pod.status.containerStatuses[0]?.name
  const log = pod.logs.find(log => log.container === asked)
  const names = pod.logs.map(({ container }) => container).join(', ') || 'none yet'
  if (!log)
    throw new RollcallError(
      'POD_UNKNOWN',
      `${pod.name} has no run of a container ${asked}; it has: ${names}.`,
    )
  const path = previous ? log.path.replace(/\d+\.log$/, `${log.attempt - 1}.log`) : log.path
  try {
    const bytes = await systemDisk.read(path)
    return new TextDecoder().decode(log.format === 'cri' ? linesOf(bytes) : bytes)
  } catch (error) {
    const code = systemCode(error)
    if (code === undefined) throw error
    throw new RollcallError(
      'POD_UNKNOWN',
      `There is no ${previous ? 'previous ' : ''}log of ${asked} (${path}: ${code}).`,
    )
  }
}

/** What the container wrote, out of a runtime's log. */
function linesOf(log: Uint8Array): Uint8Array {
  return new CriLines({ timestamps: false }).take(log)
}

function findPod({ pods }: StaticPodReport, name: string): ReportedPod {
  const exact = pods.filter(pod => name === pod.name || name === `${pod.namespace}/${pod.name}`)
  // The name as the manifest has it, without the node's.
  const short = pods.filter(
    pod =>
      pod.name.startsWith(`${name.split('/').at(-1)}-`) &&
      (!name.includes('/') || name.startsWith(`${pod.namespace}/`)),
  )
  const found = exact.length > 0 ? exact : short
  const [pod] = found
  if (pod && found.length === 1) return pod
  const all = (pod ? found : pods).map(({ namespace, name }) => `${namespace}/${name}`).join(', ') || 'none'
  throw new RollcallError(
    'POD_UNKNOWN',
    pod ? `${name} may be any of ${all}.` : `There is no static pod ${name}; there are: ${all}.`,
  )
}
