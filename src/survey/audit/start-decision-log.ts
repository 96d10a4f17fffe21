/** The decision log of a process that leads: opened when it begins, its head published while it runs: Lease, Event, webhook. */
import type { KubeClient } from '../../kube/client.ts'
import { createEventRecorder } from '../../kube/event-recorder.ts'
import type { Lease } from '../../kube/types.ts'
import type { Clock, Disk, Log, Random } from '../../ports.ts'
import type { AuditedDecision } from './audit-entry.ts'
import { type DecisionLog, type LogDisk, openDecisionLog } from './decision-log.ts'
import { openHeadKey } from './head-key.ts'
import { type HeadReceiver, type HeadResult, type HeadWebhook, startHeadWebhook } from './head-webhook.ts'
import { readLogFiles } from './log-files.ts'
import { readHeads, startHeadPublisher } from './publish-head.ts'
import { RepeatedRefusals } from './repeated-refusals.ts'
import { headEvent, headLease, type SignedHead } from './signed-head.ts'
import { verifyAgainst } from './verify-log.ts'

export interface StartDecisionLog {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  path: string
  disk: LogDisk & Pick<Disk, 'write'>
  /** Who writes, as the Lease names it. */
  writer: string
  /** Where heads are sent besides; absent: nowhere. */
  headReceiver?: HeadReceiver | undefined
  /** Told what became of a head at a place where it is kept. */
  onHead?(place: HeadPlace, result: HeadResult): void
}

export const headPlaces = ['lease', 'webhook'] as const
export type HeadPlace = (typeof headPlaces)[number]

export interface RunningDecisionLog {
  /**
   * Keeps it, or counts it where it is one of very many refusals. Rejects with AUDIT_UNWRITABLE, also when the log could
   * not be opened; the next call tries again.
   */
  record(decision: AuditedDecision): Promise<void>
  /** Publishes the last head. */
  stop(): Promise<void>
}

export function startDecisionLog(options: StartDecisionLog): RunningDecisionLog {
  const { client, clock, log, path, disk, random } = options
  let publisher: { stop(): Promise<void> } | undefined
  let stopped = false
  const events = createEventRecorder({ client, clock, log, component: 'rollcall-controller' })
  const webhook = webhookOf(options)
  const refusals = new RepeatedRefusals()
  let opening = open()
  // Whoever records is told.
  opening.catch(error => log.error('the decision log cannot be opened', { error: String(error) }))

  async function open(): Promise<DecisionLog> {
    const heads = await readHeads(client).catch((error): SignedHead[] => {
      log.warn('the published head of the decision log cannot be read', { error: String(error) })
      return []
    })
    await tellDisagreement(heads)
    const [newest] = heads
    const published = newest && { chain: newest.chain, seq: newest.seq, hash: newest.hash }
    const opened = await openDecisionLog({ ...options, published })
    const signer = await openHeadKey(path, disk, random)
    if (!stopped)
      publisher = startHeadPublisher({
        client,
        clock,
        log,
        signer,
        position: opened.position,
        onHead(head) {
          events.record(leaseObject, 'Normal', headEvent, JSON.stringify(head))
          webhook?.push(head)
        },
        onResult: result => options.onHead?.('lease', result),
      })
    return opened
  }

  /**
   * Of the newest two files, so that a start takes no more memory than they. What is on the disk may have been cut off
   * since: that is said at once, and goes on to be what `audit verify` finds.
   */
  async function tellDisagreement(heads: readonly SignedHead[]): Promise<void> {
    const { report, problems } = verifyAgainst(await readLogFiles(path, disk, 2), heads)
    if (report.broken) log.error('the decision log is broken', { ...report.broken })
    for (const problem of problems)
      log.error('the decision log disagrees with what was published', { problem })
  }

  function opened(): Promise<DecisionLog> {
    const tried = opening
    return tried.catch(() => {
      // Once for all who wait: two that write to one file would break the chain.
      if (opening === tried) opening = open()
      return opening
    })
  }

  return {
    async record(made) {
      const decision = refusals.keep(made, clock.monotonic())
      if (!decision) return
      try {
        await (await opened()).record(decision)
      } catch (error) {
        refusals.takeBack(made)
        throw error
      }
    },
    async stop() {
      stopped = true
      await opening.catch(() => undefined)
      await publisher?.stop()
      await Promise.all([webhook?.stop(), events.flush()])
    },
  }
}

/** What the Events are about. */
const leaseObject: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: headLease }

function webhookOf(options: StartDecisionLog): HeadWebhook | undefined {
  const { headReceiver: receiver, onHead } = options
  return (
    receiver && startHeadWebhook({ ...options, receiver, onResult: result => onHead?.('webhook', result) })
  )
}
