import { type Clock, sleep } from '../../ports.ts'
import type { FleetBoard, FleetNews } from './board.ts'

/** One line of the stream. `now` in milliseconds: the page counts by the server's clock. */
export type FleetLine = { now: number } & (Partial<FleetNews> | { end: string })

/** Milliseconds: silence is broken, and the viewer's rights are looked at again though there is nothing to tell. */
export const heartbeat = 20_000
/** Lines that a viewer may be behind; then he is let go, and comes again for everything. */
const mostWaiting = 50
/** Rows a line, so that the first ones are drawn while others come. */
const rowsPerLine = 1000

export interface FleetStreamOptions {
  board: FleetBoard
  clock: Clock
  signal: AbortSignal
  /** Why he may not see it any more; asked before anything that is told. */
  ended(): Promise<string | undefined>
}

/** The fleet in newline JSON: everything, an empty line of news to say so, then what changes. */
export async function* fleetStream(options: FleetStreamOptions): AsyncGenerator<Uint8Array> {
  const { board, clock, signal } = options
  const waiting: FleetNews[] = []
  let wake = new AbortController()
  let isBehind = false
  const { everything, leave } = await board.join(news => {
    // He may never take what is kept for him.
    isBehind ||= waiting.length === mostWaiting
    if (isBehind) leave()
    else waiting.push(news)
    wake.abort()
  })
  const onEnd = () => wake.abort()
  signal.addEventListener('abort', onEnd, { once: true })
  const line = (content: Omit<FleetLine, 'now'>) =>
    new TextEncoder().encode(`${JSON.stringify({ now: clock.now(), ...content })}\n`)
  try {
    const { nodes, ...rest } = everything
    for (let from = 0; from < nodes.length; from += rowsPerLine)
      yield line({ nodes: nodes.slice(from, from + rowsPerLine) })
    yield line(rest)
    let asked = clock.monotonic()
    while (!signal.aborted) {
      if (waiting.length === 0) await sleep(clock, asked + heartbeat - clock.monotonic(), wake.signal)
      if (signal.aborted) return
      wake = new AbortController()
      if (isBehind) return
      const news = waiting.shift()
      if (!news && clock.monotonic() - asked < heartbeat) continue
      const end = await options.ended()
      if (end !== undefined) {
        yield line({ end })
        return
      }
      asked = clock.monotonic()
      yield line(news ?? {})
    }
  } finally {
    leave()
    signal.removeEventListener('abort', onEnd)
  }
}
