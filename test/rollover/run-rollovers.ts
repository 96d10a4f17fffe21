// Rolls the CAs of a simulated fleet over again and again, unattended, each rollover by name; stops at the first that fails.
//   npm run rollovers                      1,000 rollovers
//   ROLLCALL_ROLLOVERS=50 ROLLCALL_NODES=40 ROLLCALL_SEED=7 npm run rollovers
import { RolloverFleet } from '../../src/fleet/rollover/rollover-fleet.ts'
import { unattended } from '../../src/fleet/rollover/unattended.ts'
import { SeededRandom } from '../../src/fleet/simulated/random.ts'
import { trustRoles } from '../../src/kube/rollcall/trust-bundle.ts'

const rollovers = Number(process.env.ROLLCALL_ROLLOVERS ?? 1000)
const nodes = Number(process.env.ROLLCALL_NODES ?? 12)
const seed = process.env.ROLLCALL_SEED ?? '1'
const standbys = 10

// Each role for a third of them: every rollover replaces one CA.
let failed = false
for (const [index, role] of trustRoles.entries()) {
  const share = Math.floor((rollovers + index) / trustRoles.length)
  const random = new SeededRandom(`rollovers ${seed} ${role}`)
  const fleet = await RolloverFleet.create({ nodes, role, standbys, random })
  for await (const { name, phase, took, metFirst } of unattended(fleet, share, standbys)) {
    failed ||= phase !== 'Done' || fleet.lost.size > 0 || fleet.broken.length > 0
    const hours = (took / 3_600_000).toFixed(1)
    console.log(`${role}: ${name} ${phase} in ${hours} h${metFirst ? ', after a meeting' : ''}`)
    if (!failed) continue
    console.log(`nodes lost: ${[...fleet.lost].join(', ')}; ${fleet.broken.join('; ')}`)
    process.exit(1)
  }
}
const { user, system } = process.cpuUsage()
console.log(
  `${rollovers} rollovers, nobody lost, ${((user + system) / 1000 / rollovers).toFixed(0)} ms of CPU each`,
)
