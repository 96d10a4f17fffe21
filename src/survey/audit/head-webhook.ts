/**
 * Sends each head of the decision log to a receiver outside the cluster, which appends it to what it has: who rewrites log and
 * Lease cannot rewrite that. No decision waits for it.
 */
import { createBackoff } from '../../kube/backoff.ts'
import type { Transport } from '../../kube/transport.ts'
import { type Clock, type Log, type Random, sleep, withTimeout } from '../../ports.ts'
import type { SignedHead } from './signed-head.ts'

export interface HeadReceiver {
  /** https. */
  url: string
  /** Verifies the receiver by the CA that the operator pinned, and carries the token. */
  transport: Transport
}

export interface HeadWebhookOptions {
  receiver: HeadReceiver
  clock: Clock
  random: Random
  log: Log
  /** Told what became of each head. */
  onResult?(result: HeadResult): void
}

/** failed: of one try, which is repeated. dropped: of a head that is not sent any more. */
export type HeadResult = 'sent' | 'failed' | 'dropped'

export interface HeadWebhook {
  /** Takes a head in; never waits, never fails. */
  push(head: SignedHead): void
  /** Sends what waits, unless the receiver fails; takes two seconds at most: another process waits to lead. */
  stop(): Promise<void>
}

/** Heads that wait: an hour's. Beyond them the oldest go, which the newer ones vouch for. */
const mostWaiting = 60
/** Milliseconds for one answer, and for all that are left when it is stopped; bytes of an answer. */
const [patience, lastPatience, longestAnswer] = [5_000, 2_000, 4096]
/** Milliseconds between tries. */
const pauses = { first: 1_000, most: 300_000, resetAfter: 600_000 }
/** Refusals that the same head will meet again: it is not tried for ever, so that later ones have their turn. */
const mostRefusals = 5

export function startHeadWebhook(options: HeadWebhookOptions): HeadWebhook {
  const { clock, random, log, onResult } = options
  const waiting: SignedHead[] = []
  const [stopping, closing] = [new AbortController(), new AbortController()]
  const backoff = createBackoff({ ...pauses, clock, random })
  let sending: Promise<void> | undefined
  let refusals = 0
  let told = false

  /** Sends the oldest. Gives whether the next one may be tried. */
  async function sendOne(head: SignedHead): Promise<boolean> {
    try {
      const status = await post(options, head, closing.signal)
      if (status < 200 || status > 299) throw new Refused(status)
      take(head, 'sent')
      if (told) log.info('the receiver of heads of the decision log takes them again', { seq: head.seq })
      told = false
      return true
    } catch (error) {
      onResult?.('failed')
      const text = error instanceof Error ? error.message : String(error)
      if (!told) log.warn('a head of the decision log cannot be sent', { seq: head.seq, error: text })
      told = true
      if (!(error instanceof Refused) || !error.forGood || ++refusals < mostRefusals) return false
      log.error('a head of the decision log is refused by its receiver', { seq: head.seq, error: text })
      take(head, 'dropped')
      return true
    }
  }

  function take(head: SignedHead, result: HeadResult): void {
    refusals = 0
    if (waiting[0] === head) waiting.shift()
    onResult?.(result)
  }

  async function sendAll(): Promise<void> {
    for (let head = waiting[0]; head; head = waiting[0]) {
      if (await sendOne(head)) continue
      if (!stopping.signal.aborted) await sleep(clock, backoff.next(), stopping.signal)
      if (stopping.signal.aborted) return
    }
  }

  function send(): void {
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
  }

  return {
    push(head) {
      waiting.push(head)
      if (waiting.length > mostWaiting) {
        waiting.shift()
        refusals = 0
        onResult?.('dropped')
      }
      send()
    },
    async stop() {
      stopping.abort()
      const close = () => closing.abort()
      if (told) close()
      const timer = clock.after(lastPatience, close)
      await sending
      if (!told) await sendAll()
      timer.cancel()
    },
  }
}

class Refused extends Error {
  readonly forGood: boolean

  constructor(status: number) {
    super(`it answered HTTP ${status}`)
    this.forGood = status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status)
  }
}

/** Gives the status of the answer. */
async function post(
  { receiver, clock }: HeadWebhookOptions,
  head: SignedHead,
  closing: AbortSignal,
): Promise<number> {
  const abort = new AbortController()
  closing.addEventListener('abort', () => abort.abort(), { once: true, signal: abort.signal })
  if (closing.aborted) abort.abort()
  const { pathname, search } = new URL(receiver.url)
  const asked = receiver.transport.request({
    method: 'POST',
    url: pathname + search,
    headers: { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'rollcall' },
    body: new TextEncoder().encode(`${JSON.stringify(head)}\n`),
    signal: abort.signal,
    mostBody: longestAnswer,
  })
  // What it answers besides says nothing; reading it frees the connection.
  const answered = asked.then(async ({ status, body }) => {
    let length = 0
    for await (const chunk of body instanceof Uint8Array ? [] : body) {
      length += chunk.length
      if (length > longestAnswer) break
    }
    return status
  })
  try {
    const late = () => new Error(`it did not answer within ${patience / 1000} s`)
    return await withTimeout(clock, patience, answered, late)
  } finally {
    abort.abort()
  }
}
