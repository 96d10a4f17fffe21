import { relative } from 'node:path'
import type { Command } from 'commander'
import { parseCertificateLifetime } from '../cluster/go-duration.ts'
import { startUp } from '../cluster/up.ts'
import type { UpProgress } from '../cluster/up-progress.ts'
import { calledAs } from './called-as.ts'
import type { CommandIo } from './command-io.ts'
import { caKeyOption, openCaKey } from './key-doors.ts'
import { lineLog } from './line-log.ts'
import { wholeNumber } from './number-option.ts'
import { untilStopped } from './until-stopped.ts'

interface UpFlags {
  nodes: number
  dir: string
  port: number
  certLifetime: string
  signingKey?: string
  dashboard: boolean
  dashboardPort: number
}

export function register(program: Command, io: CommandIo): void {
  program
    .command('up')
    .description('Run a control plane, its controllers and a fleet of nodes on this machine.')
    .option('--nodes <n>', 'how many nodes', wholeNumber(1, 60_000), 9)
    .option(
      '--dir <dir>',
      'where everything is kept; started again with it, it goes on where it was',
      '.rollcall',
    )
    .option('--port <port>', 'port of the API on 127.0.0.1; 0: any free one', wholeNumber(0, 65_535), 6443)
    .option('--cert-lifetime <duration>', "longest life of a node's certificate, like 24h or 10m", '24h')
    .option(...caKeyOption)
    .option(
      '--dashboard-port <port>',
      'port of the dashboard on 127.0.0.1; 0: any free one',
      wholeNumber(0, 65_535),
      0,
    )
    .option('--no-dashboard', 'without the dashboard')
    .action((flags: UpFlags) => up(flags, io))
}

async function up(flags: UpFlags, io: CommandIo): Promise<void> {
  // Since the process began: loading the program is part of what the user waits for.
  const elapsed = () => `${(io.clock.monotonic() / 1000).toFixed(1)}s`
  const progress = progressPrinter(io, elapsed)
  const certificateLifetimeSeconds = parseCertificateLifetime(flags.certLifetime)
  const stopped = untilStopped()
  const caKey = await openCaKey(flags.signingKey)
  const running = await startUp({
    nodes: flags.nodes,
    directory: flags.dir,
    port: flags.port,
    certificateLifetimeSeconds,
    ...(caKey && { caKey: caKey.signer }),
    ...(flags.dashboard && { dashboardPort: flags.dashboardPort }),
    logTo: lineLog,
    onProgress: progress.show,
  })
  const hints = io.clock.after(30_000, () => progress.stuck())
  const isReady = await Promise.race([running.ready.then(() => true), stopped.then(() => false)])
  hints.cancel()
  if (isReady) {
    progress.end()
    const kubeconfig = relative(process.cwd(), running.adminKubeconfig)
    io.stdout(`ready ${flags.nodes}/${flags.nodes} in ${elapsed()}\n`)
    io.stdout(nextSteps(kubeconfig, flags))
    await stopped
  }
  io.stderr('stopping …\n')
  await running.stop()
  caKey?.close()
}

function nextSteps(kubeconfig: string, { nodes, dir }: UpFlags): string {
  const place = dir === '.rollcall' ? '' : ` --dir ${dir}`
  const rollcall = calledAs(process.cwd(), process.env)
  return `  kubectl --kubeconfig ${kubeconfig} get csr,nodes
  ${rollcall} status${dir === '.rollcall' ? '' : ` --kubeconfig ${kubeconfig}`}
  ${rollcall} dashboard${dir === '.rollcall' ? '' : ` --kubeconfig ${kubeconfig}`}
  ${rollcall} demo thief${place}      worker-${nodes} asks for 10.96.0.1: watch it refused, and why
  ${rollcall} demo blackout${place}   everything lapses at once; everything comes back
  ${rollcall} demo roll${place}       the CAs change under load; demo lockup: the same without asking
  Ctrl-C stops it; started again it goes on where it was.
`
}

/** Progress goes to stderr, so that stdout begins with `ready`. */
function progressPrinter(io: CommandIo, elapsed: () => string) {
  const live = process.stderr.isTTY === true
  let latest: UpProgress | undefined
  let ended = false
  const clear = () => {
    if (live) io.stderr('\r\x1b[2K')
  }
  const line = (text: string) => {
    clear()
    io.stderr(`${elapsed().padStart(6)}  ${text}\n`)
  }
  return {
    line,
    show(progress: UpProgress) {
      if (!latest) line(progress.start())
      latest = progress
      if (ended) return
      for (const news of progress.news()) line(news)
      if (live && !progress.allReady) {
        clear()
        io.stderr(`${elapsed().padStart(6)}  ${progress.status()}`)
      }
    },
    stuck() {
      line('not every node is ready yet:')
      for (const trouble of latest?.troubles().slice(0, 5) ?? []) io.stderr(`        ${trouble}\n`)
    },
    end() {
      clear()
      ended = true
    },
  }
}
