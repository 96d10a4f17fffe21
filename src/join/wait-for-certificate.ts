import { RollcallError } from '../errors.ts'
import { createBackoff } from '../kube/backoff.ts'
import { ApiStatusError, isExpired, type KubeClient } from '../kube/client.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import { createWatchdog } from '../kube/watchdog.ts'
import { type Clock, type Random, sleep } from '../ports.ts'
import { deleted, outcomeOf } from './request-outcome.ts'

export interface WaitOptions {
  /** The request as the server answered its creation. */
  created: CertificateSigningRequest
  client: KubeClient
  clock: Clock
  random: Random
  signal?: AbortSignal
  /** Milliseconds. */
  patience: number
  /** Seconds after which the server is asked to end a watch; absent: 300–600 at random, as client-go does. */
  watchSeconds?: number
}

/** Milliseconds between two looks at a request when the API does not answer: 1 s doubling to 32 s, jittered. */
const lookBackoff = { first: 1000, most: 32_000, resetAfter: 120_000 }
/** Milliseconds: a watch that ends sooner did not work, and starting it again at once would be a storm. */
const shortestWatch = 1000
/** Milliseconds that the server may take to answer a list, or to end a watch after the time it was asked to. */
const grace = 30_000

/** What a look at the request gave: the answer, or where to go on watching (absent: list). */
type Seen = { certificate: string } | { version?: string }

/**
 * Waits for the answer to a request: watches this one object, and lists it anew whenever the watch ends or breaks
 * (K-40). Resolves with status.certificate (base64 of PEM). Rejects with CSR_DENIED, CSR_FAILED, CSR_GONE, with
 * CSR_TIMEOUT when the patience is over or the signal aborts, and with the API's own 401: this credential is dead. All
 * other trouble, a 403 too, is waited out, as a new attempt would only leave one more request behind.
 */
export async function waitForCertificate(options: WaitOptions): Promise<string> {
  const { created, clock, patience, signal } = options
  const over = new AbortController()
  const end = () => over.abort()
  const timer = clock.after(patience, end)
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted) end()
  try {
    const certificate = await lookUntil(options, over.signal)
    if (certificate !== undefined) return certificate
  } finally {
    timer.cancel()
    signal?.removeEventListener('abort', end)
  }
  throw unanswered(created.metadata.name, patience, signal?.aborted ?? false)
}

/** The certificate, or undefined when the signal aborted first. */
async function lookUntil(options: WaitOptions, over: AbortSignal): Promise<string | undefined> {
  const { created, clock, random } = options
  const backoff = createBackoff({ ...lookBackoff, clock, random })
  // From its own version on nothing that happened after the creation is missed: no list is needed at first.
  let version = created.metadata.resourceVersion
  while (!over.aborted) {
    try {
      const seen = await (version === undefined ? list(options, over) : watch(options, version, over))
      if ('certificate' in seen) return seen.certificate
      version = seen.version
    } catch (error) {
      if (over.aborted) break
      if (isFinal(error)) throw error
      version = undefined
      if (!isExpired(error)) await sleep(clock, backoff.next(), over)
    }
  }
  return undefined
}

async function list({ created, client, clock }: WaitOptions, over: AbortSignal): Promise<Seen> {
  const { name, uid } = created.metadata
  const watchdog = createWatchdog(clock, over, grace)
  const fieldSelector = `metadata.name=${name}`
  const { items, metadata } = await client
    .list<CertificateSigningRequest>(resources.certificateSigningRequests, { fieldSelector }, watchdog.signal)
    .finally(watchdog.stop)
  const [request] = items
  if (!request) throw deleted(name)
  const certificate = outcomeOf(request, uid)
  return certificate === undefined ? { version: metadata.resourceVersion ?? '' } : { certificate }
}

async function watch(options: WaitOptions, resourceVersion: string, over: AbortSignal): Promise<Seen> {
  const { created, client, clock, random } = options
  const { name, uid } = created.metadata
  const started = clock.monotonic()
  const timeoutSeconds = options.watchSeconds ?? 300 + Math.floor(random.float() * 300)
  const watchdog = createWatchdog(clock, over, timeoutSeconds * 1000 + grace)
  const fieldSelector = `metadata.name=${name}`
  const { signal } = watchdog
  try {
    const events = client.watch<CertificateSigningRequest>(resources.certificateSigningRequests, {
      fieldSelector,
      resourceVersion,
      timeoutSeconds,
      signal,
    })
    for await (const { type, object } of events) {
      if (type === 'DELETED') throw deleted(name)
      if (type === 'BOOKMARK') continue
      const certificate = outcomeOf(object, uid)
      if (certificate !== undefined) return { certificate }
    }
  } finally {
    watchdog.stop()
  }
  if (!over.aborted && clock.monotonic() - started < shortestWatch) throw new Error('the watch ended at once')
  return {}
}

/** Whether looking again with the same credential is of no use. */
function isFinal(error: unknown): boolean {
  if (error instanceof ApiStatusError) return error.status.code === 401
  return error instanceof RollcallError && error.code.startsWith('CSR_')
}

function unanswered(name: string, patience: number, cancelled: boolean): RollcallError {
  const why = cancelled
    ? 'was given up before it was answered'
    : `got no certificate within ${Math.round(patience / 1000)} s; see \`rollcall csr explain ${name}\``
  return new RollcallError('CSR_TIMEOUT', `CertificateSigningRequest "${name}" ${why}.`, { name, cancelled })
}
