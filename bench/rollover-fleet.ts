// A CA rolls over a fleet of simulated nodes: node bench/rollover-fleet.ts [NODES]
// The production step, trust bundles, signer and path checks; TLS once for each chain and bundle, and for 250 nodes at each gate.
import { simulateRollover } from '../src/fleet/rollover/simulate.ts'
import { trustRoles } from '../src/kube/rollcall/trust-bundle.ts'
import { line, measured, whole } from './measure.ts'

const nodes = Number(process.argv[2] ?? 5000)
const figures: string[] = []
let all = 0
for (const role of trustRoles) {
  const { wall, cpu } = await measured(async () => {
    const report = await simulateRollover({ nodes, role, seed: '1', gates: true })
    if (report.phase !== 'Done' || report.nodesLost > 0 || report.broken.length > 0)
      throw new Error(`${role}: ${report.phase}, ${report.nodesLost} nodes lost, ${report.broken.join('; ')}`)
    figures.push(`${role} ${report.hours} simulated hours`)
  })
  all = Math.max(all, wall)
  figures.push(`in ${(wall / 1000).toFixed(1)} s (CPU ${(cpu / 1000).toFixed(1)} s)`)
}
const memory = process.resourceUsage().maxRSS / 1024
line(
  'rollover fleet',
  `${whole(nodes)} nodes, nobody lost: ${figures.join(' ')}; ${whole(memory)} MiB at most`,
  `60 s and 1 GiB wanted for each role; the longest took ${Math.round((100 * all) / 60_000)} %`,
)
