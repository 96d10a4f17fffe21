/** What whoever runs the machines says about the one that a node is, beside its names and addresses. */
import { isRecord } from '../../kube/json.ts'

/** Pending: not set up yet. Deleting: it is going away. */
export const machineStates = ['Pending', 'Ready', 'Deleting'] as const

export interface MachineRecord {
  state: (typeof machineStates)[number]
  /** Milliseconds since the epoch; undefined: not told. */
  created?: number
  /** It has a Node already. */
  joined: boolean
}

/** Of an entry that says nothing about its machine. */
export const plainMachine: MachineRecord = { state: 'Ready', joined: false }

/** `{ state: Ready, created: 2026-03-01T12:00:00Z, joined: false }`, each optional; or what is wrong with it. */
export function machineRecord(value: unknown): MachineRecord | string {
  if (value === undefined) return plainMachine
  if (!isRecord(value)) return 'must have fields'
  const { state: stateText = 'Ready', created: createdText, joined = false, ...rest } = value
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) return `has the unknown field ${JSON.stringify(unknown)}`
  const state = machineStates.find(known => known === stateText)
  if (!state) return `state must be one of ${machineStates.join(', ')}`
  if (typeof joined !== 'boolean') return 'joined must be true or false'
  if (createdText === undefined) return { state, joined }
  const created = typeof createdText === 'string' ? Date.parse(createdText) : Number.NaN
  return Number.isNaN(created) ? 'created must be a time as 2026-03-01T12:00:00Z' : { state, created, joined }
}
