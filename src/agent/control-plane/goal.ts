/** How the control plane of this node should be, by the orders that stand. */

import type { ChainMode } from '../../rollover/observations.ts'
import type { ControlPlaneOrders, KeyId, ProbeOrder } from '../../trust/control-plane-orders.ts'
import type { ControlPlaneRole } from '../../trust/control-plane-report.ts'

/** Of one role; where it is absent the role is as kubeadm made it. */
export interface RoleGoal {
  token: number
  sequence: number
  trust: number
  sign?: KeyId
  own?: KeyId
  present?: { authority: KeyId; mode: ChainMode }
  probes?: readonly ProbeOrder[]
}

export type Goal = Readonly<Partial<Record<ControlPlaneRole, RoleGoal>>>

/** Without keys and certificates, which are kept as files of their own. */
export function goalOf({ sealed: _, crosses: __, ...goal }: ControlPlaneOrders): RoleGoal {
  return goal
}

/** CAs whose key the goal needs on this node. */
export function neededKeys({ sign, own, present, probes = [] }: RoleGoal): KeyId[] {
  const probed = probes.map(({ authority }) => authority)
  const named = [sign, own, present?.authority, ...probed].filter(one => one !== undefined)
  return [...new Set(named)]
}

/** Whether both ask for the same, whoever asked when. */
export function isSame(one: RoleGoal | undefined, other: RoleGoal | undefined): boolean {
  const bare = (goal: RoleGoal | undefined) => goal && JSON.stringify({ ...goal, token: 0, sequence: 0 })
  return bare(one) === bare(other)
}

/** Whether the orders are from before these. */
export function isOlder(
  one: { token: number; sequence: number },
  than: { token: number; sequence: number },
): boolean {
  return one.token < than.token || (one.token === than.token && one.sequence < than.sequence)
}
