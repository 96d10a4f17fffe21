/** The rotations that the model check runs: each role, bridged or not, unhurried or not; and the emergency of each. */
import { type TrustRole, trustRoles } from '../../kube/rollcall/trust-bundle.ts'
import type { AuthorityPool } from '../simulated/authority-pool.ts'
import { type Outcome, runSchedule, type ScheduleOptions } from './schedule.ts'

const short = { bridgeSoak: '1m' }
/** The old CA ends in half a day: the deadline comes while a node is away. */
const late = {
  distribute: '30m',
  prove: '1h',
  bridgeReplica: '10m',
  bridgeSoak: '1m',
  issuerSwitch: '5m',
  wave: '10m',
  unbridge: '1h',
  distrustServers: '10m',
  distrustConsumers: '1h',
} as const
const halfADay = 12 * 3_600_000
const impatient = { offline: 'ExcludeAfter' } as const

interface Variant {
  role: TrustRole
  reason?: 'Compromise'
  bridge?: 'CrossSigned' | 'None'
}

const bridges = ['CrossSigned', 'None'] as const
const planned: Variant[] = trustRoles.flatMap(role => bridges.map(bridge => ({ role, bridge })))
const emergencies: Variant[] = trustRoles.map(role => ({ role, reason: 'Compromise' }))

/** The variant of a seed: all of them in turn, an emergency for every fifth. */
function variantOf(seed: number): Omit<ScheduleOptions, 'pool' | 'seed'> {
  const list = seed % 5 === 0 ? emergencies : planned
  const variant = list[Math.floor(seed / 5 + (seed % 5)) % list.length] as Variant
  const { role, reason, bridge = 'CrossSigned' } = variant
  const ends = seed % 7 === 0 && reason === undefined
  const timings = { ...(seed % 2 === 0 ? short : {}), ...(ends ? late : {}), excludeAfter: '2h' }
  const offline = seed % 4 === 1 ? impatient : {}
  return {
    role,
    policy: { bridge, timings, ...offline },
    standby: seed % 3 === 0,
    ...(reason ? { reason } : {}),
    ...(ends ? { oldEnds: halfADay } : {}),
  }
}

export function runVariant(pool: AuthorityPool, seed: number): Outcome {
  return runSchedule({ ...variantOf(seed), pool, seed })
}

/** What to print of a schedule that failed. */
export function report(seed: number, { violation, trace }: Outcome): string {
  return `seed ${seed}: ${violation}\n  ${trace.slice(-40).join('\n  ')}\n  again: ROLLCALL_SEED=${seed} npm run schedules`
}
