/** How far the clocks of nodes are from ours, by the time that they write into their own status. */
import type { KubeNode } from '../kube/types.ts'

/** Readings of which the best counts. */
const readingsKept = 3

/**
 * Each reading is the node's clock minus ours, less the time that the report was on its way: a report that is late (after
 * a reconnect it may be minutes) makes a clock seem slow, never fast. So the largest of the last readings is nearest.
 */
export class ClockSkews {
  /** Seconds, the latest last. */
  readonly #readings = new Map<string, number[]>()

  /** A change of a Node that is just seen. `now` in milliseconds since the epoch. */
  see(node: KubeNode, previous: KubeNode | undefined, now: number): void {
    const time = heartbeatOf(node)
    // What was there before is of unknown age; a change without a heartbeat says nothing.
    if (!previous || time === undefined || time === heartbeatOf(previous)) return
    const readings = [...(this.#readings.get(node.metadata.name) ?? []), (Date.parse(time) - now) / 1000]
    this.#readings.set(node.metadata.name, readings.slice(-readingsKept))
  }

  forget(node: string): void {
    this.#readings.delete(node)
  }

  /** The largest distance of any node, in seconds; 0 while nothing is known. A single reading does not count yet. */
  largest(): number {
    const skews = [...this.#readings.values()].filter(({ length }) => length > 1).map(all => Math.max(...all))
    return skews.reduce((most, skew) => Math.max(most, Math.abs(skew)), 0)
  }
}

function heartbeatOf({ status }: KubeNode): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime
}
