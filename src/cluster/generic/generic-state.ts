/**
 * What has been ordered of a cluster that is not ours: ConfigMap kube-system/rollcall-rollover, a key a role. What came of
 * it is read back from servers and places; this is how it is told which bundle they were given.
 */
import { RollcallError } from '../../errors.ts'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { type ConfigMap, resources } from '../../kube/types.ts'
import type { StuckOrder } from '../../rollover/observations.ts'
import type { PointedChain } from '../rollover/role-state.ts'
import { type ManagedRole, managedRoles } from './rollover-file.ts'

export const stateConfigMap = { name: 'rollcall-rollover', namespace: 'kube-system' }

export interface GenericState {
  /** Which CA signs leaves of the role, where this controller signs them. */
  sign: PointedChain
  /** Bundle that consumers should hold, and since when (milliseconds since the epoch) the places of pods are known to hold it. */
  bundle: number
  publishedAt?: number | undefined
  /** Bundle that was written to each place, and when last, in milliseconds since the epoch. */
  sinks: Readonly<Record<string, number>>
  writtenAt: Readonly<Record<string, number>>
  /** Bundle that each API server was given to judge clients by. */
  judgesBy: Readonly<Record<string, number>>
  /** Bundle with which who reads a file was started last, by the place's name. */
  restarted: Readonly<Record<string, number>>
  /** Hooks that failed so often that a human has to look; each with the step it failed at. */
  failed: readonly (StuckOrder & { sequence: number })[]
  /** Since when every leaf that is signed here is written down, in milliseconds since the epoch. */
  ledgerSince?: number
  /** Orders from before these are refused (I7). */
  fence: { token: number; sequence: number }
}

export type ApiGenericState = Readonly<Record<ManagedRole, GenericState>>

const firstState: GenericState = {
  sign: { authority: 1, mode: 'old' },
  bundle: 1,
  sinks: {},
  writtenAt: {},
  judgesBy: {},
  restarted: {},
  failed: [],
  fence: { token: 0, sequence: 0 },
}

export interface StoredState {
  roles: ApiGenericState
  /** As the API has it; absent: there is none yet. */
  object?: ConfigMap
}

/** Rejects with ROLLOVER_STATE_LOST where a CA was changed and nothing says to which. */
export async function readState(client: KubeClient): Promise<StoredState> {
  const object = await storedObject(client)
  const lost = managedRoles.filter(role => parsed(object?.data?.[role]) === undefined)
  if (lost.length > 0) await refuseIfRotated(client, lost)
  return { roles: decoded(object?.data), ...(object && { object }) }
}

async function storedObject(client: KubeClient): Promise<ConfigMap | undefined> {
  try {
    return await client.get<ConfigMap>(resources.configMaps, stateConfigMap)
  } catch (error) {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  }
}

/** The first state would publish, and sign with, a CA that may have been dropped because its key was stolen. */
async function refuseIfRotated(client: KubeClient, lost: readonly ManagedRole[]): Promise<void> {
  const { items } = await client.list<CARotationObject>(caRotation.ref)
  const rotated = items.find(
    ({ spec, status }) => lost.some(role => role === spec.role) && (status?.sequence ?? 0) > 0,
  )
  if (!rotated) return
  const { namespace, name } = stateConfigMap
  const { role } = rotated.spec
  throw new RollcallError(
    'ROLLOVER_STATE_LOST',
    `ConfigMap ${namespace}/${name} says nothing under ${role}, though CARotation ${rotated.metadata.name} was carried out; bring it back, or write there what is in force: {"sign":{"authority":N,"mode":"bare"},"bundle":N}.`,
    { role, rotation: rotated.metadata.name },
  )
}

/**
 * Changes the state of a role; resolves with what is stored then. Rejects with NOT_LEADING where the fence is ahead, and for
 * a conflict, which is somebody else's write: the next turn decides anew.
 */
export async function changeState(
  client: KubeClient,
  role: ManagedRole,
  fence: GenericState['fence'],
  change: (state: GenericState) => Partial<GenericState>,
): Promise<StoredState> {
  const stored = await readState(client)
  const before = stored.roles[role]
  const { token, sequence } = before.fence
  // I7: what is not stored is not done either, whatever the caller would do next.
  if (fence.token < token || (fence.token === token && fence.sequence < sequence))
    throw new RollcallError('NOT_LEADING', 'an order is void: another controller leads by now', { role })
  const roles = { ...stored.roles, [role]: { ...before, ...change(before), fence } }
  const { object: current } = stored
  const next: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: current?.metadata ?? stateConfigMap,
    data: {
      ...current?.data,
      ...Object.fromEntries(managedRoles.map(one => [one, JSON.stringify(roles[one])])),
    },
  }
  const object = current
    ? await client.update<ConfigMap>(resources.configMaps, next)
    : await client.create<ConfigMap>(resources.configMaps, next)
  return { roles, object }
}

function decoded(data: Readonly<Record<string, string>> | undefined): ApiGenericState {
  const entries = managedRoles.map(role => [role, { ...firstState, ...parsed(data?.[role]) }])
  return Object.fromEntries(entries) as ApiGenericState
}

/** undefined: it is not there, or was spoiled by hand. */
function parsed(text: string | undefined): Partial<GenericState> | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
