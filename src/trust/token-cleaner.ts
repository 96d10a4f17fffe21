/** Deletes bootstrap tokens at the moment they expire (C-60). */
import { isStatus } from '../kube/client.ts'
import { resources } from '../kube/types.ts'
import { startWorkQueue } from '../kube/work-queue.ts'
import { tokenExpiry } from './bootstrap-token.ts'
import { followBootstrapTokens, type TokenControllerOptions } from './bootstrap-tokens.ts'

export function startTokenCleaner(options: TokenControllerOptions): { stop(): Promise<void> } {
  const { client, clock, log } = options
  const queue = startWorkQueue({ name: 'token-cleaning', workers: 1, clock, log, process: clean })
  const tokens = followBootstrapTokens(options, name => queue.add(name))

  async function clean(name: string, signal: AbortSignal): Promise<number | undefined> {
    const secret = tokens.get(`kube-system/${name}`)
    const expiry = secret && tokenExpiry(secret)
    if (!secret || expiry === undefined) return undefined
    const left = expiry - clock.now()
    if (left > 0) return left
    const { uid } = secret.metadata
    try {
      await client.delete(
        resources.secrets,
        { name, namespace: 'kube-system' },
        { ...(uid ? { uid } : {}), signal },
      )
      log.info('deleted an expired bootstrap token', { secret: name })
    } catch (error) {
      if (!isStatus(error, 'NotFound') && !isStatus(error, 'Conflict')) throw error
    }
    return undefined
  }

  return {
    async stop() {
      await Promise.all([queue.stop(), tokens.stop()])
    },
  }
}
