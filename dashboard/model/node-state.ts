/** How a node and its certificates stand at a moment. Times in seconds since the epoch. Pure. */
import type { LifeRow, NodeRow } from './rows.ts'

/** Kubelets rotate at a jittered moment of this part of a certificate's life (K-34). */
export const rotationWindow = { from: 0.7, to: 0.9 }

export type CertificateState = 'expired' | 'future' | 'late' | 'due' | 'good' | 'none'

/** The worst first: this is the order in which nodes are shown. */
export const nodeStates = [
  'expired',
  'refused',
  'late',
  'notready',
  'waiting',
  'none',
  'due',
  'good',
] as const
export type NodeState = (typeof nodeStates)[number]

/** Seconds that a request may take before it counts as waiting for somebody. */
const patience = 60
/** Seconds for which a refusal is shown: as long as Kubernetes keeps the request (C-40). */
const refusalShown = 3600

/** Which part of its life is over: below 0 not yet begun, above 1 over. */
export function usedPart([notBefore, notAfter]: LifeRow, now: number): number {
  return (now - notBefore) / Math.max(1, notAfter - notBefore)
}

export function certificateState(life: LifeRow | 0, now: number): CertificateState {
  if (life === 0) return 'none'
  // Clocks may differ a little, and signers date back.
  if (life[0] > now + 60) return 'future'
  const used = usedPart(life, now)
  if (used >= 1) return 'expired'
  if (used >= rotationWindow.to) return 'late'
  return used >= rotationWindow.from ? 'due' : 'good'
}

export function nodeState([, ready, client, serving, waiting, refused]: NodeRow, now: number): NodeState {
  const states = [certificateState(client, now), certificateState(serving, now)]
  if (states.includes('expired')) return 'expired'
  if (refused > 0 && now - refused < refusalShown) return 'refused'
  if (states.includes('late') || states.includes('future')) return 'late'
  if (ready !== 1) return 'notready'
  if (waiting > 0 && now - waiting > patience) return 'waiting'
  if (states.includes('none')) return 'none'
  return states.includes('due') ? 'due' : 'good'
}

/** Of each state: its name, and a sentence for people. */
export const stateTexts: Readonly<Record<NodeState, { label: string; means: string }>> = {
  expired: { label: 'Expired', means: 'a certificate of the node has ended' },
  refused: { label: 'Refused', means: 'a request that the node made was denied, or failed, within the hour' },
  late: { label: 'Late', means: 'a certificate is past 90 % of its life and was not renewed' },
  notready: { label: 'Not ready', means: 'the node does not report that it is ready' },
  waiting: { label: 'Waiting', means: 'a request waits for a decision for more than a minute' },
  none: { label: 'Unknown', means: 'no certificate of one kind is known' },
  due: { label: 'Rotating', means: 'between 70 and 90 % of its life: it is renewed about now' },
  good: { label: 'Good', means: 'both certificates are valid and not due yet' },
}

export interface PlacedNode {
  row: NodeRow
  state: NodeState
}

export type NodeOrder = 'worst' | 'name' | 'expiry'

/** The nodes that are shown, in order, and how many there are of each state. */
export function placeNodes(
  rows: Iterable<NodeRow>,
  now: number,
  { states, text, order }: { states: ReadonlySet<NodeState>; text: string; order: NodeOrder },
): { shown: PlacedNode[]; counts: Record<NodeState, number>; total: number } {
  const counts: Record<NodeState, number> = {
    expired: 0,
    refused: 0,
    late: 0,
    notready: 0,
    waiting: 0,
    none: 0,
    due: 0,
    good: 0,
  }
  const shown: PlacedNode[] = []
  const wanted = text.trim().toLowerCase()
  let total = 0
  for (const row of rows) {
    const state = nodeState(row, now)
    total++
    counts[state]++
    if (states.size > 0 && !states.has(state)) continue
    if (wanted && !row[0].toLowerCase().includes(wanted)) continue
    shown.push({ row, state })
  }
  shown.sort(comparators[order])
  return { shown, counts, total }
}

const rank = Object.fromEntries(nodeStates.map((state, n) => [state, n]))

/** By name, of thousands: a collator, which counts numbers as well, takes tens of milliseconds for that. */
const sortKeys = new Map<string, string>()
function sortKey(name: string): string {
  const known = sortKeys.get(name)
  if (known !== undefined) return known
  // Names of nodes that have gone are not kept for ever.
  if (sortKeys.size > 50_000) sortKeys.clear()
  const key = name.replace(/\d+/g, digits => digits.padStart(20, '0'))
  sortKeys.set(name, key)
  return key
}
function byName(a: PlacedNode, b: PlacedNode): number {
  const [one, other] = [sortKey(a.row[0]), sortKey(b.row[0])]
  return one === other ? 0 : one < other ? -1 : 1
}
/** When the first of its certificates ends; without any, last. */
export function firstEnd([, , client, serving]: NodeRow): number {
  return Math.min(
    client === 0 ? Number.POSITIVE_INFINITY : client[1],
    serving === 0 ? Number.POSITIVE_INFINITY : serving[1],
  )
}

const comparators: Record<NodeOrder, (a: PlacedNode, b: PlacedNode) => number> = {
  worst: (a, b) => (rank[a.state] ?? 0) - (rank[b.state] ?? 0) || byName(a, b),
  name: byName,
  expiry: (a, b) => compare(firstEnd(a.row), firstEnd(b.row)) || byName(a, b),
}

/** Infinity minus itself is no number. */
const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1)
