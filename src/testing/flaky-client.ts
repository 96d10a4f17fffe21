import { RollcallError } from '../errors.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeObject, ResourceRef, WatchEvent } from '../kube/types.ts'
import type { Random } from '../ports.ts'

export interface FlakyClient extends KubeClient {
  /** Share of the calls that fail, half of them after they took effect; watches break off as often an event. */
  faults: number
}

/** A client whose connection breaks by chance: before a request arrives, or before its answer does. */
export function flakyClient(client: KubeClient, random: Random, faults: number): FlakyClient {
  const broken = () => new RollcallError('API_UNREACHABLE', 'the connection broke')

  async function through<T>(call: () => Promise<T>): Promise<T> {
    const chance = random.float() / flaky.faults
    if (chance < 0.5) throw broken()
    const answer = await call()
    if (chance < 1) throw broken()
    return answer
  }

  async function* watching<T extends KubeObject>(events: AsyncIterable<WatchEvent<T>>) {
    for await (const event of events) {
      yield event
      if (random.float() < flaky.faults) throw broken()
    }
  }

  const flaky: FlakyClient = {
    faults,
    get: (...call) => through(() => client.get(...call)),
    list: (...call) => through(() => client.list(...call)),
    create: (...call) => through(() => client.create(...call)),
    update: (...call) => through(() => client.update(...call)),
    patch: (...call) => through(() => client.patch(...call)),
    delete: (...call) => through(() => client.delete(...call)),
    raw: (...call) => through(() => client.raw(...call)),
    watch: <T extends KubeObject>(resource: ResourceRef, options?: Parameters<KubeClient['watch']>[1]) =>
      watching<T>(client.watch<T>(resource, options)),
  }
  return flaky
}
