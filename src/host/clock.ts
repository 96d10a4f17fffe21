import type { Clock, Timer } from '../ports.ts'

/** setTimeout overflows above this many milliseconds (24.8 days) and would fire at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds: number, run: () => void): Timer {
    let handle: NodeJS.Timeout
    const arm = (left: number) => {
      const step = Math.min(left, LONGEST_TIMEOUT)
      handle = setTimeout(() => (left > step ? arm(left - step) : run()), step)
    }
    arm(Math.max(0, milliseconds))
    return { cancel: () => clearTimeout(handle) }
  },
}
