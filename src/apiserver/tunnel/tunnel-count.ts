/** Tunnels to one kubelet, and to all: one that is slow or dead must not use up what the others need. */
const MOST_PER_NODE = 100
const MOST = 1000

/** How many tunnels are open, and to where. */
export class TunnelCount {
  readonly #open = new Map<string, number>()
  #total = 0

  /** Counts one more to a node; undefined: there are too many. What is returned gives it back, once. */
  take(node: string): (() => void) | undefined {
    const open = this.#open.get(node) ?? 0
    if (open >= MOST_PER_NODE || this.#total >= MOST) return undefined
    this.#open.set(node, open + 1)
    this.#total++
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#total--
      const left = (this.#open.get(node) ?? 1) - 1
      if (left > 0) this.#open.set(node, left)
      else this.#open.delete(node)
    }
  }
}
