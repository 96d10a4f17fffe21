import { createBackoff } from '../../kube/backoff.ts'
import { ApiStatusError } from '../../kube/client.ts'
import { type ReflectorOptions, startReflector } from '../../kube/reflector.ts'
import type { KubeObject } from '../../kube/types.ts'
import { sleep } from '../../ports.ts'

export interface Following {
  /** Resolves when the collection was read once, or may not be read, or is not served. */
  readonly settled: Promise<void>
  stop(): Promise<void>
}

/** Milliseconds after which a collection that could not be read is tried again: rights and versions change. */
const TRY_AGAIN = 600_000
/**
 * Milliseconds for which a refusal may be one of a cluster that is being set up: only then is it taken for an operator's
 * wish, and what the collection says for not known.
 */
const FORBIDDEN_FOR = 60_000
/** Forbidden, and not served. */
const unreadableCodes: readonly number[] = [403, 404]
const BACKOFF = { first: 800, most: 30_000, resetAfter: 120_000 }

/** Follows a collection that not every cluster serves and not every operator lets us read. */
export function followWhereReadable<T extends KubeObject>(
  options: ReflectorOptions<T> & {
    /** What it means that it cannot be read; milliseconds after which it is tried again. */
    unreadable?: { message: string; tryAgain: number }
    /**
     * Called with why it may not be read, where it is there (403), and with undefined when that is over: whoever is told
     * decides what it means, so that is settled at once.
     */
    onForbidden?(why: string | undefined): void
  },
): Following {
  const { client, resource, selectors, clock, random, log } = options
  const { message, tryAgain } = options.unreadable ?? {
    message: `${resource.plural} cannot be read, so what they say is not known`,
    tryAgain: TRY_AGAIN,
  }
  const backoff = createBackoff({ ...BACKOFF, clock, random })
  const stopping = new AbortController()
  const settled = Promise.withResolvers<void>()
  const { signal } = stopping
  const began = clock.monotonic()
  let told = false
  let forbidden: string | undefined

  function nowForbidden(why: string | undefined): void {
    if (why === forbidden) return
    forbidden = why
    options.onForbidden?.(why)
  }

  /** Milliseconds to wait before the next try, or undefined: it can be read. */
  async function probe(): Promise<number | undefined> {
    try {
      await client.list(resource, { ...selectors, limit: 1 }, signal)
      return undefined
    } catch (error) {
      if (!(error instanceof ApiStatusError) || !unreadableCodes.includes(error.status.code))
        return backoff.next()
      const isForbidden = error.status.code === 403
      nowForbidden(isForbidden ? error.message : undefined)
      if (isForbidden && !options.onForbidden && clock.monotonic() - began < FORBIDDEN_FOR)
        return backoff.next()
      if (!told) log.info(message, { error: error.message })
      told = true
      settled.resolve()
      return tryAgain
    }
  }

  async function run(): Promise<void> {
    for (let wait = await probe(); wait !== undefined; wait = await probe()) {
      await sleep(clock, wait, signal)
      if (signal.aborted) return
    }
    if (signal.aborted) return
    const reflector = startReflector(options)
    void reflector.synced.then(() => {
      if (reflector.hasSynced()) nowForbidden(undefined)
      settled.resolve()
    })
    const stopped = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => stopped.resolve(), { once: true })
    await stopped.promise
    await reflector.stop()
  }

  const running = run().finally(() => settled.resolve())
  return {
    settled: settled.promise,
    stop() {
      stopping.abort()
      return running
    },
  }
}
