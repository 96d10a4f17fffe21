import { RollcallError } from '../errors.ts'
import type { Transport } from '../kube/transport.ts'
import type { Lease } from '../kube/types.ts'
import { type Clock, sleep } from '../ports.ts'
import { json, refusal } from './in-memory-transport.ts'

/** One Lease behind optimistic locking, and links to it that can be slow or cut. */
export function leaseServer(clock: Clock) {
  let lease: Lease | undefined
  let version = 0
  const write = (body: Uint8Array | undefined) => {
    version++
    const { metadata, ...rest } = JSON.parse(new TextDecoder().decode(body)) as Lease
    lease = { ...rest, metadata: { ...metadata, resourceVersion: String(version) } }
    return json(200, lease)
  }
  return {
    lease: () => lease,
    /** `answerDelay`: milliseconds between the write and its answer. */
    link(faults: { cut: boolean; answerDelay: number }): Transport {
      return {
        closeConnections() {},
        async request({ method, body, signal }) {
          if (faults.cut) throw new RollcallError('API_UNREACHABLE', 'cut')
          const answer = serve(method, body)
          if (faults.answerDelay > 0) await sleep(clock, faults.answerDelay, signal)
          if (signal?.aborted) throw new RollcallError('API_UNREACHABLE', 'aborted')
          return answer
        },
      }
    },
  }

  function serve(method: string, body: Uint8Array | undefined) {
    if (method === 'POST') return lease ? refusal(409, 'AlreadyExists') : write(body)
    if (!lease) return refusal(404, 'NotFound')
    if (method === 'GET') return json(200, lease)
    const sent = JSON.parse(new TextDecoder().decode(body)) as Lease
    const stale = sent.metadata.resourceVersion !== lease.metadata.resourceVersion
    return stale ? refusal(409, 'Conflict') : write(body)
  }
}
