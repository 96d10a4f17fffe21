import { type Clock, sleep, withTimeout } from '../../ports.ts'
import type { Container } from '../pod.ts'
import type { ContainerRecord, Runtime } from '../runtime.ts'

/** Seconds that a container gets between TERM and KILL at least, whatever preStop took (the kubelet's minimum). */
const leastGrace = 2

/**
 * preStop, then TERM, then KILL; all within `grace` seconds. A preStop that fails is told and does not keep the container.
 * `signal`: the agent ends; the next one goes on.
 */
export async function stopGently(
  runtime: Runtime,
  clock: Clock,
  record: ContainerRecord,
  preStop: NonNullable<Container['lifecycle']>['preStop'],
  grace: number,
  signal: AbortSignal,
  onHookFailed: (why: string) => void,
): Promise<void> {
  const began = clock.monotonic()
  if (preStop?.sleep) await sleep(clock, Math.min(preStop.sleep.seconds, grace) * 1000, signal)
  if (preStop?.exec) {
    const abort = new AbortController()
    signal.addEventListener('abort', () => abort.abort(), { once: true })
    const hook = runtime.exec(record, preStop.exec.command, abort.signal, grace)
    const code = await withTimeout(clock, grace * 1000, hook, () => {
      abort.abort()
      return new Error('it took longer than the grace period')
    }).catch((error: unknown) => error)
    if (code !== 0 && !signal.aborted)
      onHookFailed(typeof code === 'number' ? `exit code ${code}` : String(code))
  }
  if (signal.aborted) return
  const left = grace - (clock.monotonic() - began) / 1000
  await runtime.stop(record, grace === 0 ? 0 : Math.max(left, leastGrace))
}
