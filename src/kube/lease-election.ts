import { type Clock, type Log, type Random, sleep, withTimeout } from '../ports.ts'
import { isStatus, type KubeClient } from './client.ts'
import { formatMicroTime } from './time-format.ts'
import { type Lease, resources } from './types.ts'

export interface LeaseElectionOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  namespace: string
  name: string
  /** Who we are; no two processes may share it. */
  identity: string
  /** Milliseconds after which others may take the lease, whole seconds; default 15 000. */
  leaseDuration?: number
  /** Milliseconds without a successful renewal after which we stop leading; default 10 000. */
  renewDeadline?: number
  /** Milliseconds between tries; default 2 000. */
  retryPeriod?: number
  /**
   * Called each time we become leader. The signal aborts when we lead no more: everything started must end then. The
   * lease is given up only after the returned promise settled, so two leaders never work at once.
   */
  lead(signal: AbortSignal): Promise<void>
}

export interface LeaseElection {
  isLeader(): boolean
  /** Who holds the lease, as last seen; empty when nobody does. */
  holder(): string
  /** Ends leading, gives the lease up, resolves when nothing runs any more. */
  stop(): Promise<void>
}

/** client-go keeps each try to itself by waiting up to this factor longer. */
const JITTER = 1.2

interface Observed {
  lease: Lease
  /** Monotonic milliseconds: another's clock is not trusted, only that its record stood still for so long here. */
  at: number
}

/** Elects one leader among processes by a Lease, with client-go's rules and times. Runs until stopped. */
export function startLeaseElection(options: LeaseElectionOptions): LeaseElection {
  const { client, clock, random, log, namespace, name, identity, lead } = options
  const { leaseDuration = 15_000, renewDeadline = 10_000, retryPeriod = 2_000 } = options
  const stopping = new AbortController()
  let observed: Observed | undefined
  let leading = false

  function observe(lease: Lease): Observed {
    const same = JSON.stringify(lease.spec) === JSON.stringify(observed?.lease.spec)
    observed = { lease, at: same && observed ? observed.at : clock.monotonic() }
    return observed
  }

  /** Takes or renews the lease; false when another holds it. */
  async function tryHold(signal: AbortSignal): Promise<boolean> {
    const found = await client.get<Lease>(resources.leases, { name, namespace }, signal).catch(unlessNotFound)
    if (!found) {
      const metadata = { name, namespace }
      const lease: Lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata,
        spec: claim(undefined),
      }
      observe(await client.create(resources.leases, lease, { signal }))
      return true
    }
    const { lease, at } = observe(found)
    if (!mayTake(lease, clock.monotonic() - at)) return false
    observe(await client.update(resources.leases, { ...lease, spec: claim(lease) }, { signal }))
    return true
  }

  function mayTake({ spec = {} }: Lease, unchangedFor: number): boolean {
    if (!spec.holderIdentity || spec.holderIdentity === identity) return true
    return unchangedFor > (spec.leaseDurationSeconds ?? leaseDuration / 1000) * 1000
  }

  function claim(old: Lease | undefined): NonNullable<Lease['spec']> {
    const now = formatMicroTime(clock.now())
    const mine = old?.spec?.holderIdentity === identity
    const transitions = old?.spec?.leaseTransitions ?? 0
    return {
      ...old?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: leaseDuration / 1000,
      acquireTime: (mine && old.spec?.acquireTime) || now,
      renewTime: now,
      leaseTransitions: mine || !old ? transitions : transitions + 1,
    }
  }

  /** One try that takes no longer than `milliseconds`; a failure is a false. */
  async function attempt(milliseconds: number): Promise<boolean> {
    const abort = new AbortController()
    try {
      const late = () => new Error(`no answer within ${milliseconds} ms`)
      return await withTimeout(clock, milliseconds, tryHold(abort.signal), late)
    } catch (error) {
      // Another was faster (Conflict, AlreadyExists), or the API cannot be reached.
      log.info(`lease ${namespace}/${name}: try failed`, {
        error: error instanceof Error ? error.message : String(error),
      })
      return false
    } finally {
      abort.abort()
    }
  }

  /** When the try that succeeded began, in monotonic milliseconds; undefined when stopped. */
  async function acquire(signal: AbortSignal): Promise<number | undefined> {
    while (!signal.aborted) {
      const began = clock.monotonic()
      if (await attempt(renewDeadline)) return began
      await sleep(clock, retryPeriod * (1 + random.float() * JITTER), signal)
    }
    return undefined
  }

  /**
   * Resolves when the lease could not be renewed for the deadline, or `signal` aborts. The deadline counts from the
   * start of the last try that succeeded: the server may have written the lease at once and answered late, and others
   * count from when it was written.
   */
  async function renew(acquired: number, signal: AbortSignal): Promise<void> {
    let renewed = acquired
    while (!signal.aborted) {
      const left = renewDeadline - (clock.monotonic() - renewed)
      await sleep(clock, Math.min(retryPeriod, left), signal)
      const began = clock.monotonic()
      if (signal.aborted || began - renewed >= renewDeadline) return
      if (await attempt(renewDeadline - (began - renewed))) renewed = began
      else if (observed?.lease.spec?.holderIdentity !== identity) return
    }
  }

  async function term(acquired: number): Promise<void> {
    const over = new AbortController()
    const end = () => over.abort()
    stopping.signal.addEventListener('abort', end)
    leading = true
    log.info(`lease ${namespace}/${name}: leading as ${identity}`)
    const work = lead(over.signal)
      .catch(error => log.error(`lease ${namespace}/${name}: leading failed`, { error: String(error) }))
      .finally(end)
    await renew(acquired, over.signal)
    end()
    await work
    leading = false
    stopping.signal.removeEventListener('abort', end)
    const lost = stopping.signal.aborted ? log.info : log.warn
    lost(`lease ${namespace}/${name}: leading no more`)
    await release()
  }

  /** Lets the next one begin at once instead of after the lease's duration, if the lease is still ours. */
  async function release(): Promise<void> {
    const lease = observed?.lease
    if (lease?.spec?.holderIdentity !== identity) return
    const now = formatMicroTime(clock.now())
    const { leaseTransitions = 0 } = lease.spec
    const spec = {
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
      leaseTransitions,
    }
    const late = () => new Error('no answer in time')
    try {
      const update = client.update<Lease>(resources.leases, { ...lease, spec })
      observe(await withTimeout(clock, renewDeadline, update, late))
    } catch (error) {
      log.warn(`lease ${namespace}/${name}: could not be given up, it runs out by itself`, {
        error: String(error),
      })
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      const acquired = await acquire(stopping.signal)
      if (acquired === undefined) return
      // Stopped while the try that got it was under way.
      if (stopping.signal.aborted) return release()
      await term(acquired)
      // A leader that fails at once must not take the lease again in a tight loop.
      await sleep(clock, retryPeriod * (1 + random.float() * JITTER), stopping.signal)
    }
  }

  const running = run()
  return {
    isLeader: () => leading,
    holder: () => observed?.lease.spec?.holderIdentity ?? '',
    stop() {
      stopping.abort()
      return running
    },
  }
}

function unlessNotFound(error: unknown): undefined {
  if (!isStatus(error, 'NotFound')) throw error
}
