/** Deletes requests that have had their time: at once, then every hour (C-40). */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import { type Clock, type Log, sleep } from '../ports.ts'
import { type CleaningReason, cleaningReason } from './cleanable.ts'

export interface CleanerOptions {
  client: KubeClient
  clock: Clock
  log: Log
  /** Resolves when `cached` shows what the server has. */
  synced: Promise<void>
  cached(): readonly CertificateSigningRequest[]
  /** Told of each request that was deleted. */
  onCleaned?(reason: CleaningReason): void
}

const period = 3_600_000

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
  await options.synced
  while (!signal.aborted) {
    for (const csr of options.cached()) if (!signal.aborted) await clean(options, csr, signal)
    await sleep(options.clock, period, signal)
  }
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
