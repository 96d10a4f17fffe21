import { setTimeout } from 'node:timers/promises'

/** Asks again every 50 ms until `look` gives something; rejects with `what` after `milliseconds`. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  milliseconds = 30_000,
): Promise<T> {
  const end = performance.now() + milliseconds
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > end) throw new Error(`not within ${milliseconds / 1000} s: ${what}`)
    await setTimeout(50)
  }
}
