import { type Command, Option } from 'commander'
import { serveHttps } from '../agent/serve-https.ts'
import { hostPorts } from '../cluster/host-ports.ts'
import { startFleet } from '../fleet/fleet.ts'
import { connectUndici } from '../kube/undici-transport.ts'
import { lineLog } from './line-log.ts'

interface FleetFlags {
  nodes: number
  directory: string
  bootstrapKubeconfig: string
  trustRoots?: string
  log: string
}

/** The child of `up` that holds the nodes. Not for people: it reports over its IPC channel and ends when that closes. */
export function register(program: Command): void {
  program
    .command('fleet-process', { hidden: true })
    .requiredOption('--nodes <n>', 'how many', Number)
    .requiredOption('--directory <dir>', 'where the nodes keep their files')
    .requiredOption('--bootstrap-kubeconfig <file>', 'what they start with')
    .option('--trust-roots <file>', 'what they take CAs by')
    .addOption(new Option('--log <file>', 'where trouble is written').hideHelp())
    .action(async (flags: FleetFlags) => {
      // A node of the fleet is as good as dead without `up`: a closed pipe ends it, however `up` ended.
      process.on('disconnect', () => process.exit(0))
      // Ctrl-C reaches the whole group; `up` decides when its nodes end.
      process.on('SIGINT', () => {})
      const instance = { pid: process.pid, startTicks: hostPorts.clock.now() }
      await startFleet(
        { ...flags, instance, onReport: report => process.send?.(report) },
        {
          ...hostPorts,
          log: lineLog(flags.log),
          connect: connectUndici,
          listen: serveHttps,
        },
      )
    })
}
