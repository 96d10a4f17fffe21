import { RollcallError } from '../errors.ts'
import { ApiStatusError } from '../kube/api-status.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeObject, ResourceRef, WatchEvent } from '../kube/types.ts'
import type { Random } from '../ports.ts'

export interface FlakyClient extends KubeClient {
  /** Share of the calls that fail, half of them after they took effect; watches break off as often an event. */
  faults: number
}

type Method = 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete' | 'raw' | 'watch'

/** How calls fail. The connection: before a request arrives, or before its answer does. */
const broken = () => new RollcallError('API_UNREACHABLE', 'the connection broke')
const answers: readonly (readonly [code: number, reason: string, of?: readonly Method[]])[] = [
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [409, 'Conflict', ['update', 'patch', 'delete']],
  [410, 'Expired', ['list', 'watch']],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
]
/** What a server may also say after it has done what was asked. */
const lateCodes: readonly number[] = [500, 504]

/**
 * A client that fails by chance: by its connection alone, or by all that an API server answers when something is wrong
 * with it, with the caller's rights, or with the version of an object.
 */
export function flakyClient(
  client: KubeClient,
  random: Random,
  faults: number,
  kinds: 'connection' | 'all' = 'connection',
): FlakyClient {
  function failure(method: Method, tookEffect: boolean): Error {
    if (kinds === 'connection') return broken()
    const possible = answers.filter(
      ([code, , of]) => (!of || of.includes(method)) && (!tookEffect || lateCodes.includes(code)),
    )
    const found = possible[Math.floor(random.float() * (possible.length + 1))]
    if (!found) return broken()
    const [code, reason] = found
    const details = { ...(code === 429 && { retryAfterSeconds: 1 }) }
    const message = `${method}: injected`
    return new ApiStatusError({
      apiVersion: 'v1',
      kind: 'Status',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      details,
      code,
    })
  }

  async function through<T>(method: Method, call: () => Promise<T>): Promise<T> {
    const chance = random.float() / flaky.faults
    if (chance < 0.5) throw failure(method, false)
    const answer = await call()
    if (chance < 1) throw failure(method, true)
    return answer
  }

  async function* watching<T extends KubeObject>(events: AsyncIterable<WatchEvent<T>>) {
    for await (const event of events) {
      yield event
      if (random.float() < flaky.faults) throw failure('watch', false)
    }
  }

  const flaky: FlakyClient = {
    faults,
    get: (...call) => through('get', () => client.get(...call)),
    list: (...call) => through('list', () => client.list(...call)),
    create: (...call) => through('create', () => client.create(...call)),
    update: (...call) => through('update', () => client.update(...call)),
    patch: (...call) => through('patch', () => client.patch(...call)),
    delete: (...call) => through('delete', () => client.delete(...call)),
    raw: (...call) => through('raw', () => client.raw(...call)),
    watch: <T extends KubeObject>(resource: ResourceRef, options?: Parameters<KubeClient['watch']>[1]) =>
      watching<T>(client.watch<T>(resource, options)),
  }
  return flaky
}
