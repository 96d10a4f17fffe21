/** Bytes of bodies that all connections together may have the server hold, and one of them. */
export interface BodyBudgetLimits {
  total: number
  connection: number
  /** Of each body this much is free, so that who hogs the rest keeps nobody from an ordinary request. */
  free: number
}

const defaultBodyBudget: BodyBudgetLimits = {
  total: 256 * 1024 * 1024,
  connection: 16 * 1024 * 1024,
  free: 64 * 1024,
}

/** What one body holds of the budget. */
export interface Share {
  /** False when there is no room for so many bytes more. */
  take(bytes: number): boolean
  /** The body is done with. */
  giveBack(): void
}

/** Bounds what unfinished and unanswered requests cost in memory, before anybody knows who sends them. */
export class BodyBudget {
  readonly #limits: BodyBudgetLimits
  readonly #byConnection = new WeakMap<object, { held: number }>()
  #held = 0

  constructor(limits: BodyBudgetLimits = defaultBodyBudget) {
    this.#limits = limits
  }

  /** Bytes beyond the free ones that are held now. */
  get held(): number {
    return this.#held
  }

  share(connection: object): Share {
    const { total, connection: most, free } = this.#limits
    let account = this.#byConnection.get(connection)
    if (!account) {
      account = { held: 0 }
      this.#byConnection.set(connection, account)
    }
    const own = account
    let received = 0
    let counted = 0
    return {
      take: bytes => {
        received += bytes
        const more = Math.max(0, received - free) - counted
        if (this.#held + more > total || own.held + more > most) return false
        counted += more
        own.held += more
        this.#held += more
        return true
      },
      giveBack: () => {
        own.held -= counted
        this.#held -= counted
        counted = 0
      },
    }
  }
}
