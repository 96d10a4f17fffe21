/**
 * What the embedded API should present, trust and sign with: ConfigMap kube-system/rollcall-apiserver, a key a role. The
 * server follows it, whoever wrote it.
 */
import type { ObjectReader } from '../../apiserver/reader.ts'
import { rolloverState } from '../../kube/admission/rotation-writers.ts'
import { type TrustRole, trustRoles } from '../../kube/rollcall/trust-bundle.ts'
import { type ConfigMap, resources } from '../../kube/types.ts'
import type { ChainMode } from '../../rollover/observations.ts'

export const stateConfigMap = rolloverState

export interface PointedChain {
  /** Absent: none signs. */
  authority?: number
  mode: ChainMode
}

export interface RoleState {
  /** What the API presents; apiserver-serving only. */
  present: { authority: number; mode: ChainMode }
  /** Which CA signs leaves of the role. */
  sign: PointedChain
  /** Bundle by which the API judges the peers of the role. */
  judgesBy: number
  /** Bundle that consumers should hold. */
  bundle: number
  /** Bundle in each place consumers take trust from. */
  sinks: Readonly<Record<string, number>>
  /** Orders from before these are refused (I7). */
  fence: { token: number; sequence: number }
  /** Each time it rises, all connections are made anew. */
  reconnect: number
}

export type ApiState = Readonly<Record<TrustRole, RoleState>>

/** Before any rotation: the first CA for everything. */
export const firstState: RoleState = {
  present: { authority: 1, mode: 'old' },
  sign: { authority: 1, mode: 'old' },
  judgesBy: 1,
  bundle: 1,
  sinks: {},
  fence: { token: 0, sequence: 0 },
  reconnect: 0,
}

export function decodeState(data: Readonly<Record<string, string>> | undefined): ApiState {
  const entries = trustRoles.map(role => [role, { ...firstState, ...parsed(data?.[role]) }])
  return Object.fromEntries(entries) as ApiState
}

/** As the API has it now. */
export function storedState(reader: ObjectReader): ApiState {
  const { name, namespace } = stateConfigMap
  return decodeState(reader.get<ConfigMap>(resources.configMaps, name, namespace)?.data)
}

export function encodeState(state: ApiState): Record<string, string> {
  return Object.fromEntries(trustRoles.map(role => [role, JSON.stringify(state[role])]))
}

function parsed(text: string | undefined): Partial<RoleState> {
  if (text === undefined) return {}
  try {
    return JSON.parse(text) as Partial<RoleState>
  } catch {
    return {} // spoiled by hand: the first state is safe, since the first CA is never destroyed
  }
}
