import {
  type ControlPlaneReport,
  type ControlPlaneRole,
  controlPlaneReportAnnotation,
  controlPlaneRoles,
  encodeControlPlaneReport,
  type RoleReport,
} from '../../trust/control-plane-report.ts'
import type { SealProof } from '../../trust/seal-proof.ts'
import type { Authorities } from './authorities.ts'
import { isOlder, neededKeys } from './goal.ts'
import type { Instances } from './health.ts'
import type { Standing } from './standing-orders.ts'

export interface ReportFacts {
  standing: Standing
  settled: boolean
  healthy: boolean
  ends: number | undefined
  trouble: string | undefined
  instances: Instances
  authorities: Pick<Authorities, 'ids' | 'get'>
  seal: Uint8Array
  proof: SealProof | undefined
  now: number
}

/** The annotation of the node's Lease. */
export function reportOf(facts: ReportFacts): Record<string, string> {
  const { standing, healthy, ends, instances, authorities, seal, proof, now } = facts
  const { ordered } = standing
  const tableOf = <T>(of: (role: ControlPlaneRole) => T) =>
    Object.fromEntries(controlPlaneRoles.map(role => [role, of(role)])) as Record<ControlPlaneRole, T>
  const report: ControlPlaneReport = {
    seal: Buffer.from(seal).toString('base64'),
    ...(proof && { proof }),
    healthy,
    ...(ends !== undefined && { ends }),
    instances,
    authorities: tableOf(role => authorities.ids(role)),
    lacks: tableOf(role => {
      const goal = ordered[role]
      return goal ? neededKeys(goal).filter(id => authorities.get(role, id) === undefined) : []
    }),
    roles: Object.fromEntries(
      controlPlaneRoles.flatMap(role => (ordered[role] ? [[role, roleReport(role, facts)]] : [])),
    ),
    seenAt: Math.floor(now),
  }
  return { [controlPlaneReportAnnotation]: encodeControlPlaneReport(report) }
}

function roleReport(role: ControlPlaneRole, { standing, settled, trouble }: ReportFacts): RoleReport {
  const { ordered, inForce, undone, presentsSince } = standing
  const wanted = ordered[role]
  const failed = undone[role]
  const { token = 0, sequence = 0 } = wanted ?? {}
  const inVain = wanted && failed && !isOlder(failed, wanted)
  const state = inVain ? 'Undone' : settled ? 'Settled' : 'Working'
  const why = inVain ? failed.why : trouble
  const { trust = 0, sign, own, present } = inForce[role] ?? {}
  return {
    token,
    sequence,
    state,
    ...(state !== 'Settled' && why !== undefined && { why: why.slice(0, 500) }),
    trust,
    ...(sign !== undefined && { sign }),
    ...(own !== undefined && { own }),
    ...(present && { present: { ...present, since: presentsSince } }),
  }
}
