import type { StaticPod } from '../pod.ts'
import type { ContainerRecord } from '../runtime.ts'

/** What is known of a pod at one moment. */
export interface PodView {
  pod: StaticPod
  records: readonly ContainerRecord[]
  /** Per run: whether it has passed its startup probe, and its readiness probe. */
  probes: ReadonlyMap<string, { started: boolean; ready: boolean }>
  /** Per container: why it does not run now. */
  waiting: ReadonlyMap<string, { reason: string; message: string }>
  /** Of its own network; absent on the node's, and while it has none. */
  addresses?: readonly string[]
  /** Why nothing of the pod can run at all. */
  problem?: { reason: string; message: string }
}
