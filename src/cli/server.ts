import { relative } from 'node:path'
import type { Command } from 'commander'
import { parseCertificateLifetime } from '../cluster/go-duration.ts'
import { startServer } from '../cluster/server.ts'
import type { CommandIo } from './command-io.ts'
import { ipAddress } from './ip-option.ts'
import { caKeyOption, openCaKey } from './key-doors.ts'
import { lineLog } from './line-log.ts'
import { wholeNumber } from './number-option.ts'
import { registerBackup } from './server-backup.ts'
import { untilStopped } from './until-stopped.ts'

interface ServerFlags {
  dir: string
  port: number
  bind: string
  certLifetime: string
  controllers: boolean
  signingKey?: string
  dashboard: boolean
  dashboardPort: number
}

export function register(program: Command, io: CommandIo): void {
  const command = program
    .command('server')
    .description('Run the embedded control plane alone, for real kubelets and agents.')
    .option('--dir <dir>', 'where everything is kept', '.rollcall')
    .option('--port <port>', 'port of the API; 0: any free one', wholeNumber(0, 65_535), 6443)
    .option('--bind <address>', 'address to listen on', ipAddress, '127.0.0.1')
    .option('--cert-lifetime <duration>', "longest life of a node's certificate", '8760h')
    .option(...caKeyOption)
    .option(
      '--dashboard-port <port>',
      'port of the dashboard on 127.0.0.1; 0: any free one',
      wholeNumber(0, 65_535),
      0,
    )
    .option('--no-dashboard', 'without the dashboard')
    .option('--no-controllers', 'the API alone: nothing is approved or signed')
    .action((flags: ServerFlags) => server(flags, io))
  registerBackup(command, io)
}

async function server(flags: ServerFlags, io: CommandIo): Promise<void> {
  const stopped = untilStopped()
  const caKey = await openCaKey(flags.signingKey)
  const running = await startServer({
    directory: flags.dir,
    port: flags.port,
    bind: flags.bind,
    certificateLifetimeSeconds: parseCertificateLifetime(flags.certLifetime),
    controllers: flags.controllers,
    ...(caKey && { caKey: caKey.signer }),
    ...(flags.dashboard && { dashboardPort: flags.dashboardPort }),
    log: lineLog(),
  })
  io.stdout(`ready ${running.server}\n`)
  io.stdout(`  kubectl --kubeconfig ${relative(process.cwd(), running.adminKubeconfig)} get csr,nodes\n`)
  await stopped
  await running.stop()
  caKey?.close()
}
