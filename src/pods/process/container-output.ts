import type { Clock, Disk } from '../../ports.ts'
import { readLog } from '../logs/read-log.ts'
import type { ContainerRecord, ContainerStreams } from '../runtime.ts'

/**
 * What a container's own process writes from now on, until it ends; it has no stdin, its log is all that it writes to.
 * Who is attached is not told how it ended, as on Kubernetes.
 */
export function followOutput(
  { path, record }: { path: string; record(): ContainerRecord | undefined },
  { disk, clock }: { disk: Disk; clock: Clock },
): ContainerStreams {
  const left = new AbortController()
  const ended = () => record()?.state !== 'Running'
  const log = { path, format: 'raw' as const, ended }
  const options = { follow: true, timestamps: false, tailLines: 0 }
  const { promise: exitCode, resolve } = Promise.withResolvers<number>()
  async function* output(): AsyncGenerator<Uint8Array> {
    try {
      yield* readLog(log, options, { disk, clock, signal: left.signal })
    } finally {
      resolve(0)
    }
  }
  return { stdout: output(), exitCode, close: () => left.abort() }
}
