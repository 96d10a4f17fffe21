import type { Api } from '../../apiserver/api.ts'
import type { Clock } from '../../ports.ts'

/** Milliseconds over which requests are counted. */
const window = 60_000
const slice = 5000

/** The API, with a count of the answers by which it says that it failed. */
export function watchedHealth(api: Api, clock: Clock): { api: Api; errorRate(): number } {
  let slices: { since: number; all: number; failed: number }[] = []

  function count(status: number): void {
    const now = clock.monotonic()
    const last = slices.at(-1)
    const current = last && now - last.since < slice ? last : { since: now, all: 0, failed: 0 }
    if (current !== last) slices = [...slices.filter(({ since }) => now - since < window), current]
    current.all += 1
    // 503 and 504 of a node that is away are the node's.
    if (status === 500) current.failed += 1
  }
  return {
    api: {
      ...api,
      async handle(request, peer) {
        const answer = await api.handle(request, peer)
        count(answer.status)
        return answer
      },
    },
    errorRate() {
      const recent = slices.filter(({ since }) => clock.monotonic() - since < window)
      const all = recent.reduce((sum, one) => sum + one.all, 0)
      return all === 0 ? 0 : recent.reduce((sum, one) => sum + one.failed, 0) / all
    },
  }
}
