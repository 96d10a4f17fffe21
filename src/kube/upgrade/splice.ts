import type { Duplex } from 'node:stream'
import type { Clock } from '../../ports.ts'

/** Milliseconds that the other direction has when one has ended. */
const GOODBYE = 1000
/** Milliseconds between two looks whether anything came through. */
const LOOK = 60_000
/** Milliseconds of silence after which a tunnel is closed: the kubelet's streamingConnectionIdleTimeout. */
const IDLE = 4 * 3_600_000

/**
 * Passes bytes both ways, no faster than either side takes them, until one side ends; then closes both. Never throws: a
 * connection that breaks is the end of the tunnel.
 */
export function splice(left: Duplex, right: Duplex, clock: Clock, idle = IDLE): void {
  let through = false
  let silentSince = clock.monotonic()
  let timer = clock.after(LOOK, look)
  function look(): void {
    if (through) silentSince = clock.monotonic()
    through = false
    if (clock.monotonic() - silentSince >= idle) close()
    else timer = clock.after(LOOK, look)
  }
  function close(): void {
    timer.cancel()
    left.destroy()
    right.destroy()
  }
  let ended = 0
  const end = () => {
    ended++
    if (ended > 1) return close()
    timer.cancel()
    timer = clock.after(GOODBYE, close)
  }
  for (const [from, to] of [
    [left, right],
    [right, left],
  ] as const) {
    from.on('data', () => {
      through = true
    })
    from.on('end', end)
    from.on('error', close)
    from.on('close', close)
    from.pipe(to)
  }
}
