/** Keeps kube-public/cluster-info signed by every bootstrap token that may sign (C-61). */
import { isStatus } from '../kube/client.ts'
import { startReflector } from '../kube/reflector.ts'
import { type ConfigMap, resources } from '../kube/types.ts'
import { startWorkQueue } from '../kube/work-queue.ts'
import { tokenExpiry } from './bootstrap-token.ts'
import { followBootstrapTokens, type TokenControllerOptions } from './bootstrap-tokens.ts'
import { signedClusterInfo } from './cluster-info.ts'

const namespace = 'kube-public'
const name = 'cluster-info'
/** Milliseconds. */
const conflictRetry = 200

export function startBootstrapSigner(options: TokenControllerOptions): { stop(): Promise<void> } {
  const { client, clock, random, log } = options
  const queue = startWorkQueue({ name: 'bootstrap-signing', workers: 1, clock, log, process: sign })
  const tokens = followBootstrapTokens(options, () => queue.add(name))
  const clusterInfos = startReflector<ConfigMap>({
    client,
    clock,
    random,
    log,
    resource: resources.configMaps,
    selectors: { namespace, fieldSelector: `metadata.name=${name}` },
    onChange: () => queue.add(name),
  })
  const synced = Promise.all([tokens.synced, clusterInfos.synced])

  async function sign(_key: string, signal: AbortSignal): Promise<number | undefined> {
    await synced
    const clusterInfo = clusterInfos.get(`${namespace}/${name}`)
    if (signal.aborted || !clusterInfo) return undefined
    const wanted = signedClusterInfo(clusterInfo, tokens.list(), clock.now())
    try {
      if (wanted) await client.update(resources.configMaps, wanted, { signal })
    } catch (error) {
      if (isStatus(error, 'Conflict')) return conflictRetry
      if (!isStatus(error, 'NotFound')) throw error
    }
    return untilNextExpiry()
  }

  /** Milliseconds until a token ends and its signature must go, or undefined. */
  function untilNextExpiry(): number | undefined {
    const left = tokens
      .list()
      .map(secret => (tokenExpiry(secret) ?? Number.POSITIVE_INFINITY) - clock.now())
      .filter(milliseconds => milliseconds > 0 && milliseconds < Number.POSITIVE_INFINITY)
    return left.length > 0 ? Math.min(...left) : undefined
  }

  return {
    async stop() {
      await Promise.all([queue.stop(), tokens.stop(), clusterInfos.stop()])
    },
  }
}
