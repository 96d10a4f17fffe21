/**
 * How each control-plane node should be: one ConfigMap for all of them, kube-system/rollcall-control-plane, a key a role. That
 * it is one object is what keeps two nodes from being changed at once: whoever lets the next one in has read, by the version
 * it writes on, that no other was let in meanwhile.
 */
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { type ConfigMap, resources } from '../../kube/types.ts'
import type { ControlPlaneOrders } from '../../trust/control-plane-orders.ts'
import {
  type ControlPlaneReport,
  type ControlPlaneRole,
  controlPlaneRoles,
} from '../../trust/control-plane-report.ts'

export const targetsConfigMap = { name: 'rollcall-control-plane', namespace: 'kube-system' }

/** Orders without what travels beside them. */
export type NodeTarget = Omit<ControlPlaneOrders, 'sealed' | 'crosses'>

export interface RoleTargets {
  nodes: Readonly<Record<string, NodeTarget>>
  /** Bundle that consumers should hold; since when the places of pods are known to hold it (milliseconds since the epoch). */
  bundle: number
  publishedAt?: number | undefined
  /** Bundle that each other place was given. */
  sinks: Readonly<Record<string, number>>
  /** Orders from before these are refused (I7). */
  fence: { token: number; sequence: number }
}

export type Targets = Readonly<Record<ControlPlaneRole, RoleTargets>>

export interface StoredTargets {
  roles: Targets
  /** As the API has it; absent: there is none yet. */
  object?: ConfigMap
}

const first: RoleTargets = { nodes: {}, bundle: 1, sinks: {}, fence: { token: 0, sequence: 0 } }

export async function readTargets(client: KubeClient): Promise<StoredTargets> {
  try {
    const object = await client.get<ConfigMap>(resources.configMaps, targetsConfigMap)
    return { roles: decoded(object.data), object }
  } catch (error) {
    if (isStatus(error, 'NotFound')) return { roles: decoded(undefined) }
    throw error
  }
}

/**
 * Changes the targets of a role, on the version that was read. Resolves with what is stored then; `undefined`: somebody else
 * has written since, or the fence forbids it, and nothing was changed.
 */
export async function writeTargets(
  client: KubeClient,
  { roles, object }: StoredTargets,
  role: ControlPlaneRole,
  fence: RoleTargets['fence'],
  change: Partial<RoleTargets>,
): Promise<StoredTargets | undefined> {
  const before = roles[role]
  const { token, sequence } = before.fence
  if (fence.token < token || (fence.token === token && fence.sequence < sequence)) return undefined
  const next = { ...roles, [role]: { ...before, ...change, fence } }
  const written: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: object?.metadata ?? targetsConfigMap,
    data: Object.fromEntries(controlPlaneRoles.map(one => [one, JSON.stringify(next[one])])),
  }
  try {
    const stored = object
      ? await client.update<ConfigMap>(resources.configMaps, written)
      : await client.create<ConfigMap>(resources.configMaps, written)
    return { roles: next, object: stored }
  } catch (error) {
    if (isStatus(error, 'Conflict') || isStatus(error, 'AlreadyExists')) return undefined
    throw error
  }
}

/** Whether the node says that all it was ordered is so: that very order, tried and well. */
export function isSettled(name: string, targets: Targets, report: ControlPlaneReport | undefined): boolean {
  return controlPlaneRoles.every(role => {
    const target = targets[role].nodes[name]
    if (!target) return true
    const said = report?.roles[role]
    const isThat = said?.token === target.token && said.sequence === target.sequence
    return isThat && said.state === 'Settled' && report?.healthy === true
  })
}

/** Tried in vain: the orders that stand, and no older ones. */
export function undoneBy(
  name: string,
  role: ControlPlaneRole,
  targets: Targets,
  report: ControlPlaneReport | undefined,
): string | undefined {
  const target = targets[role].nodes[name]
  const said = report?.roles[role]
  const isThat = said?.token === target?.token && said?.sequence === target?.sequence
  return target && isThat && said?.state === 'Undone' ? (said.why ?? 'it did not come up') : undefined
}

function decoded(data: Readonly<Record<string, string>> | undefined): Targets {
  const entries = controlPlaneRoles.map(role => [role, { ...first, ...parsed(data?.[role]) }])
  return Object.fromEntries(entries) as Targets
}

function parsed(text: string | undefined): Partial<RoleTargets> {
  if (text === undefined) return {}
  try {
    return JSON.parse(text) as Partial<RoleTargets>
  } catch {
    return {} // spoiled by hand: agents refuse orders that are older than theirs
  }
}
