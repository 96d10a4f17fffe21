import type { Agent } from '../../src/agent/agent.ts'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import type { Clock } from '../../src/ports.ts'

/** The real clock of an agent, which a test lets be ahead. */
export interface LeapingClock {
  clock: Clock
  /**
   * The agent's clock is this far ahead whenever it does not ask, until it was asked for this reason `times` times, or as
   * often as it takes to get another certificate; what is issued is judged by the right time.
   */
  leap(running: Agent, minutes: number, cause: string, times?: number): Promise<void>
  /** Back to the right time. */
  reset(): void
}

export function leapingClock(): LeapingClock {
  /** Milliseconds. */
  let ahead = 0
  return {
    clock: { ...hostPorts.clock, now: () => Date.now() + ahead },
    async leap(running, minutes, cause, times = Number.POSITIVE_INFINITY) {
      const { serial } = running.status().client
      const done = Promise.withResolvers<void>()
      let asked = 0
      const look = () => {
        const { client } = running.status()
        if (client.requesting === cause) asked++
        const over = client.serial !== serial || (asked >= times && !client.requesting)
        ahead = client.requesting || over ? 0 : minutes * 60_000
        if (over) done.resolve()
      }
      const end = running.onChange(look)
      look()
      await done.promise
      end()
    },
    reset() {
      ahead = 0
    },
  }
}
