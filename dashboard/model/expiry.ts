/** When certificates end, as a chart and as a list. Pure; seconds since the epoch. */
import { rotationWindow } from './node-state.ts'
import type { LifeRow, NodeRow } from './rows.ts'

export interface Ending {
  node: string
  kind: 'client' | 'serving'
  life: LifeRow
}

/** Every certificate that is known, the one that ends first at the top. */
export function endings(rows: Iterable<NodeRow>): Ending[] {
  const all: Ending[] = []
  for (const [node, , client, serving] of rows) {
    if (client !== 0) all.push({ node, kind: 'client', life: client })
    if (serving !== 0) all.push({ node, kind: 'serving', life: serving })
  }
  return all.sort((a, b) => a.life[1] - b.life[1])
}

export interface Bucket {
  from: number
  to: number
  client: number
  serving: number
  /** Renewals that are to be expected: each certificate's is spread over its rotation window. */
  renewals: number
}

/** Seconds that a bucket may be wide: whole minutes, hours or days, so that its edges can be read. */
const widths = [
  60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000,
]

/** At most `most` buckets, and one from now to the last end; those that have ended are not among them. */
export function buckets(all: readonly Ending[], now: number, most = 72): Bucket[] {
  const last = all.at(-1)?.life[1] ?? now
  if (last <= now) return []
  const width = widths.find(seconds => (last - now) / seconds <= most) ?? Math.ceil((last - now) / most)
  const start = Math.floor(now / width) * width
  const list: Bucket[] = Array.from({ length: Math.floor((last - start) / width) + 1 }, (_, n) => ({
    from: start + n * width,
    to: start + (n + 1) * width,
    client: 0,
    serving: 0,
    renewals: 0,
  }))
  for (const { kind, life } of all) {
    if (life[1] <= now) continue
    const bucket = list[Math.floor((life[1] - start) / width)]
    if (bucket) bucket[kind]++
    spreadRenewal(list, life, { start, width, now })
  }
  return list
}

/** Adds one renewal, in parts, to the steps that what is left of the certificate's rotation window lies in. */
function spreadRenewal(
  list: readonly Bucket[],
  [notBefore, notAfter]: LifeRow,
  { start, width, now }: { start: number; width: number; now: number },
): void {
  const at = (part: number) => notBefore + part * (notAfter - notBefore)
  const from = Math.max(now, at(rotationWindow.from))
  const to = at(rotationWindow.to)
  if (to <= from) return
  for (let n = Math.floor((from - start) / width); start + n * width < to; n++) {
    const bucket = list[n]
    const inside = Math.min(to, start + (n + 1) * width) - Math.max(from, start + n * width)
    if (bucket) bucket.renewals += inside / (to - from)
  }
}

/** How many certificates each CA has out: what still hangs on one that is to go. */
export function byIssuer(all: readonly Ending[]): { issuer: string; client: number; serving: number }[] {
  const counts = new Map<string, { issuer: string; client: number; serving: number }>()
  for (const { kind, life } of all) {
    const of = counts.get(life[2]) ?? { issuer: life[2], client: 0, serving: 0 }
    of[kind]++
    counts.set(life[2], of)
  }
  return [...counts.values()].sort((a, b) => b.client + b.serving - a.client - a.serving)
}
