/** Tunnels to one kubelet, and to all: one that is slow or dead must not use up what the others need. */
const MOST_PER_NODE = 100
const MOST = 1000
/** Of both what one user may have, so that whoever follows a log leaves room for the next. */
const USERS_SHARE = 0.8

/** How many tunnels are open, to where, and whose. */
export class TunnelCount {
  readonly #open = new Map<string, number>()

  /** Counts one more of a user to a node; undefined: there are too many. What is returned gives it back, once. */
  take(node: string, user: string): (() => void) | undefined {
    const counts: [of: string, most: number][] = [
      ['all', MOST],
      [JSON.stringify({ node }), MOST_PER_NODE],
      [JSON.stringify({ user }), MOST * USERS_SHARE],
      [JSON.stringify({ node, user }), MOST_PER_NODE * USERS_SHARE],
    ]
    if (counts.some(([of, most]) => this.#opened(of) >= most)) return undefined
    for (const [of] of counts) this.#open.set(of, this.#opened(of) + 1)
    let held = true
    return () => {
      if (!held) return
      held = false
      for (const [of] of counts) {
        const left = this.#opened(of) - 1
        if (left > 0) this.#open.set(of, left)
        else this.#open.delete(of)
      }
    }
  }

  #opened(of: string): number {
    return this.#open.get(of) ?? 0
  }
}
