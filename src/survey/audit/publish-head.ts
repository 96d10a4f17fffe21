/** Signs the head of the decision log each minute and writes it to annotations of a Lease. */
import type { Signer } from '../../keys/signer.ts'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { formatTime } from '../../kube/time-format.ts'
import { type Lease, resources } from '../../kube/types.ts'
import { type Clock, type Log, sleep } from '../../ports.ts'
import type { ChainPosition } from './audit-entry.ts'
import {
  earlierHeadsAnnotation,
  headAnnotation,
  headLease,
  publishedHeads,
  type SignedHead,
  signHead,
} from './signed-head.ts'

export interface HeadPublisherOptions {
  client: KubeClient
  clock: Clock
  log: Log
  /** The controller's key. */
  signer: Signer
  position(): ChainPosition
  /** Told each head once, when it is signed. */
  onHead?(head: SignedHead): void
  /** Told what became of each try to write it to the Lease. */
  onResult?(result: 'sent' | 'failed'): void
}

/** Milliseconds between two heads. */
const INTERVAL = 60_000
/** Last heads of earlier chains that are kept: one of each replica, and a few more. */
const mostEarlier = 8

/** Publishes at once, each minute, and when it is stopped; a head that is published already is not written again. */
export function startHeadPublisher(options: HeadPublisherOptions): { stop(): Promise<void> } {
  const { clock, log, position, signer, onHead, onResult } = options
  const stopping = new AbortController()
  let signed: SignedHead | undefined
  let written = ''

  async function publish(): Promise<void> {
    const head = position()
    try {
      if (head.hash !== signed?.hash) {
        signed = await signHead(head, formatTime(clock.now()), signer)
        onHead?.(signed)
      }
      if (signed.hash === written) return
      await writeHead(options, signed)
      written = signed.hash
      onResult?.('sent')
    } catch (error) {
      onResult?.('failed')
      log.warn('the head of the decision log cannot be published', { seq: head.seq, error: String(error) })
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await publish()
      await sleep(clock, INTERVAL, stopping.signal)
    }
    await publish()
  }

  const running = run()
  return {
    stop() {
      stopping.abort()
      return running
    },
  }
}

/** The heads that are published now, the newest first. Rejects as the client does, but not when there is no Lease. */
export async function readHeads(client: KubeClient): Promise<SignedHead[]> {
  const lease = await readLease(client)
  return publishedHeads(lease?.metadata.annotations)
}

async function readLease(client: KubeClient): Promise<Lease | undefined> {
  try {
    return await client.get<Lease>(resources.leases, headLease)
  } catch (error) {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  }
}

/** A head of another chain moves to the earlier ones: what a replica has lost goes on to be known. */
async function writeHead({ client }: HeadPublisherOptions, head: SignedHead): Promise<void> {
  const lease = await readLease(client)
  const heads = publishedHeads(lease?.metadata.annotations).filter(({ chain }) => chain !== head.chain)
  const annotations = {
    ...lease?.metadata.annotations,
    [headAnnotation]: JSON.stringify(head),
    [earlierHeadsAnnotation]: JSON.stringify(heads.slice(0, mostEarlier)),
  }
  if (lease) {
    await client.update<Lease>(resources.leases, { ...lease, metadata: { ...lease.metadata, annotations } })
    return
  }
  await client.create<Lease>(resources.leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...headLease, annotations },
  })
}
