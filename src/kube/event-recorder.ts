import type { Clock, Log } from '../ports.ts'
import { isStatus, type KubeClient } from './client.ts'
import { formatTime } from './time-format.ts'
import { type KubeEvent, type KubeObject, resources } from './types.ts'

export interface EventRecorder {
  /** Tells the cluster what happened to an object. Never fails and is not waited for. */
  record(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void
  /** Resolves when all that was recorded has been sent or dropped. */
  flush(): Promise<void>
}

export interface EventRecorderOptions {
  client: KubeClient
  clock: Clock
  log: Log
  /** source.component, e.g. `rollcall-approver`. */
  component: string
  host?: string
}

/** Events kept for counting up; as many as client-go's correlator remembers. */
const REMEMBERED = 4096
/** Milliseconds after which the same event is a new one and not a repetition; client-go's aggregation interval. */
const SAME_FOR = 600_000
/** Waiting to be sent; an API that takes no events must not fill our memory. */
const LONGEST_QUEUE = 1000

/**
 * Normal Events in the long run, and how many may come at once. When thousands of nodes join together each request says the
 * same in its own conditions; that many Events would cost as much as their requests, and hide the Warnings.
 */
const NORMAL_PER_SECOND = 10
const NORMAL_AT_ONCE = 500

interface Known {
  name: string
  namespace: string
  count: number
  lastAt: number
}

/**
 * Writes core/v1 Events one at a time; of very many Normal ones at once the first 500, then ten a second. The same event of the same object again counts the first one up. An Event that
 * the API does not take is dropped with a log line: Events are a courtesy.
 */
export function createEventRecorder({
  client,
  clock,
  log,
  component,
  host,
}: EventRecorderOptions): EventRecorder {
  const known = new Map<string, Known>()
  let queued = 0
  let sequence = 0
  /** Tokens for Normal Events as of `since`, and how many had none since the last that had one. */
  const normal = { tokens: NORMAL_AT_ONCE, since: clock.monotonic(), leftOut: 0 }
  let last: Promise<void> = Promise.resolve()

  async function send(
    about: KubeObject,
    type: KubeEvent['type'],
    reason: string,
    message: string,
  ): Promise<void> {
    const key = JSON.stringify([
      about.kind,
      about.metadata.namespace,
      about.metadata.name,
      about.metadata.uid,
      type,
      reason,
      message,
    ])
    const now = clock.now()
    const before = known.get(key)
    known.delete(key)
    const repeated = before && clock.monotonic() - before.lastAt <= SAME_FOR
    const current =
      (repeated && (await countUp(before, now))) || (await create(about, type, reason, message, now))
    known.set(key, { ...current, lastAt: clock.monotonic() })
    for (const oldest of known.keys()) {
      if (known.size <= REMEMBERED) break
      known.delete(oldest)
    }
  }

  /** Undefined when the Event is gone meanwhile: the API forgets them after an hour. */
  async function countUp(before: Known, now: number): Promise<Known | undefined> {
    const { name, namespace } = before
    const count = before.count + 1
    try {
      const patch = { count, lastTimestamp: formatTime(now) }
      await client.patch(resources.events, { name, namespace }, 'merge', patch)
      return { ...before, count }
    } catch (error) {
      if (isStatus(error, 'NotFound')) return undefined
      throw error
    }
  }

  async function create(
    about: KubeObject,
    type: KubeEvent['type'],
    reason: string,
    message: string,
    now: number,
  ): Promise<Known> {
    // Events about objects without a namespace are in `default`, as client-go puts them.
    const namespace = about.metadata.namespace ?? 'default'
    // client-go's form: the object's name and a number that differs; ours counts within the same millisecond too.
    const suffix = (BigInt(Math.trunc(now)) * 1_000_000n + BigInt(sequence++)).toString(16)
    const name = `${about.metadata.name.slice(0, 230)}.${suffix}`
    const { apiVersion, kind, metadata } = about
    await client.create<KubeEvent>(resources.events, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: {
        apiVersion,
        kind,
        name: metadata.name,
        ...(metadata.namespace && { namespace: metadata.namespace }),
        ...(metadata.uid && { uid: metadata.uid }),
      },
      reason,
      // The API refuses longer ones.
      message: message.slice(0, 1024),
      ...(type && { type }),
      count: 1,
      firstTimestamp: formatTime(now),
      lastTimestamp: formatTime(now),
      source: { component, ...(host && { host }) },
    })
    return { name, namespace, count: 1, lastAt: 0 }
  }

  function mayBeSent(type: KubeEvent['type']): boolean {
    if (type !== 'Normal') return true
    const now = clock.monotonic()
    const gained = ((now - normal.since) / 1000) * NORMAL_PER_SECOND
    normal.tokens = Math.min(NORMAL_AT_ONCE, normal.tokens + gained)
    normal.since = now
    if (normal.tokens < 1) {
      normal.leftOut += 1
      return false
    }
    normal.tokens -= 1
    if (normal.leftOut > 0)
      log.info('Normal events were left out: there were too many at once', { leftOut: normal.leftOut })
    normal.leftOut = 0
    return true
  }

  return {
    record(about, type, reason, message) {
      if (!mayBeSent(type)) return
      const what = { object: about.metadata.name, reason, message }
      if (queued >= LONGEST_QUEUE) {
        log.warn('event dropped: too many wait to be sent', what)
        return
      }
      queued++
      last = last
        .then(() => send(about, type, reason, message))
        .catch(error => log.warn('event dropped', { ...what, error: String(error) }))
        .finally(() => queued--)
    },
    flush: () => last,
  }
}
