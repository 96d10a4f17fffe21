import { type Command, Option } from 'commander'
import { type SimulationReport, simulateRollover } from '../fleet/rollover/simulate.ts'
import { type TrustRole, trustRoles } from '../kube/rollcall/trust-bundle.ts'
import type { CommandIo } from './command-io.ts'
import { wholeNumber } from './number-option.ts'
import { addOutputOption, type OutputFormat, print } from './output.ts'

interface Flags {
  nodes: number
  role: TrustRole
  gates: boolean
  seed: string
  output: OutputFormat
}

export function register(program: Command, io: CommandIo): void {
  const simulate = program
    .command('simulate')
    .description('show what would happen, on simulated nodes and time')
  const rollover = simulate
    .command('ca-rollover')
    .description('change the CA of a simulated fleet, from the first look to the last, and tell who was lost')
    .option('--nodes <n>', 'how many nodes', wholeNumber(1, 20_000), 200)
    .addOption(new Option('--role <role>', 'whose CA').choices(trustRoles).default('apiserver-serving'))
    .option('--no-gates', 'go on without waiting for anybody to answer')
    .option('--seed <text>', 'the same seed gives the same rollover', '1')
  addOutputOption(rollover).action(async ({ output, ...options }: Flags) => {
    const report = await simulateRollover(options)
    print(io, output, { text: () => textOf(report), value: report })
  })
}

function textOf(report: SimulationReport): string {
  const { nodes, role, gates, nodesLost, phase, hours, handshakes, refused, restarts, certificates } = report
  const lines = [
    `${nodes} nodes, CA of ${role}, ${gates ? 'each gate waited for' : 'no gate waited for'}: ${nodesLost} lost`,
    `${phase} after ${hours} simulated hours; ${restarts} restarts, ${certificates} certificates`,
    `${handshakes} handshakes over TLS on the way, ${refused} of them refused`,
    ...report.history.map(entry => `  ${entry}`),
  ]
  return `${lines.join('\n')}\n`
}
