/** Deletes requests that have had their time: at once, then every hour (C-40). */
import { continueAfter, isStatus, type KubeClient, PAGE_SIZE } from '../kube/client.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import { type Clock, type Log, sleep } from '../ports.ts'
import { type CleaningReason, cleaningReason } from './cleanable.ts'

export interface CleanerOptions {
  client: KubeClient
  clock: Clock
  log: Log
  /** Resolves when there is time for it: the requests that wait for an answer come first. */
  begin: Promise<void>
  /** Told of each request that was deleted. */
  onCleaned?(reason: CleaningReason): void
}

const period = 3_600_000
/** Milliseconds after which it is tried again where the requests cannot be listed. */
const retry = 60_000

export function startCleaner(options: CleanerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const running = run(options, stopping.signal)
  return {
    stop() {
      stopping.abort()
      return running
    },
  }
}

async function run(options: CleanerOptions, signal: AbortSignal): Promise<void> {
  const { clock, log } = options
  await options.begin
  while (!signal.aborted) {
    const failure = await sweep(options, signal).catch(error => ({ error: String(error) }))
    if (signal.aborted) return
    if (failure) log.error('certificate signing requests could not be listed, to clean up', failure)
    await sleep(clock, failure ? retry : period, signal)
  }
}

/** Page by page: of what has had its time nobody keeps a copy. */
async function sweep(options: CleanerOptions, signal: AbortSignal): Promise<undefined> {
  let next: string | undefined
  do {
    try {
      const request = { limit: PAGE_SIZE, ...(next !== undefined && { continue: next }) }
      const { items, metadata } = await options.client.list<CertificateSigningRequest>(
        resources.certificateSigningRequests,
        request,
        signal,
      )
      for (const csr of items) if (!signal.aborted) await clean(options, csr, signal)
      next = metadata.continue || undefined
    } catch (error) {
      // Deleting takes its time: what is there by now is as good.
      next = continueAfter(error)
      if (next === undefined) throw error
    }
    if (next !== undefined) await sleep(options.clock, 0, signal)
  } while (next !== undefined && !signal.aborted)
}

/** One request that cannot be judged or deleted is reported and keeps no other from being cleaned. */
async function clean(
  { client, clock, log, onCleaned }: CleanerOptions,
  csr: CertificateSigningRequest,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid } = csr.metadata
  try {
    const reason = cleaningReason(csr, clock.now())
    if (reason === undefined) return
    // Kubernetes deletes without preconditions; with the uid a new request of the same name is safe.
    await client.delete(resources.certificateSigningRequests, { name }, { ...(uid ? { uid } : {}), signal })
    log.info('cleaned up a certificate signing request', { csr: name, reason })
    onCleaned?.(reason)
  } catch (error) {
    if (signal.aborted || isStatus(error, 'NotFound') || isStatus(error, 'Conflict')) return
    log.error('a certificate signing request could not be cleaned up', { csr: name, error: String(error) })
  }
}
