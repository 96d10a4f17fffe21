import { type Container, revisionOf, type StaticPod } from '../pod.ts'
import type { ContainerRecord, StartOrder } from '../runtime.ts'
import { crashesAfter, type RestartBackoff, restartDelay } from './restart-backoff.ts'

export interface PodFacts {
  /** What should run under this name; undefined: nothing. */
  pod: StaticPod | undefined
  /** All runs of containers under this name, also of an older manifest. */
  records: readonly ContainerRecord[]
  /** Ids of the runs whose liveness or startup probe has failed. */
  unhealthy: ReadonlySet<string>
  /** Milliseconds since a run ended, by a clock that does not jump. */
  since(record: ContainerRecord): number
  backoff: RestartBackoff
}

/** What to do for a pod now. Everything in it may be done at the same time. */
export interface PodPlan {
  stop: ContainerRecord[]
  remove: ContainerRecord[]
  start: StartOrder[]
  /** Containers that wait for their next restart (CrashLoopBackOff), with milliseconds to go. */
  waiting: Map<string, number>
  /** Nothing should run and nothing is left. */
  done: boolean
}

/**
 * The next steps of one pod. What belongs to an older manifest goes first (and with it all that holds ports and sockets),
 * then the init containers run one after the other, then the containers side by side. Decided from what is there alone,
 * so that it does not matter who started it and when.
 */
export function planPod(facts: PodFacts): PodPlan {
  const { pod, records } = facts
  const plan: PodPlan = { stop: [], remove: [], start: [], waiting: new Map(), done: false }
  const stale = records.filter(
    record => !pod || record.revision !== revisionOf(pod) || record.podUid !== pod.metadata.uid,
  )
  for (const record of stale) (record.state === 'Running' ? plan.stop : plan.remove).push(record)
  if (stale.length > 0) return plan
  if (!pod) return { ...plan, done: true }
  const { initContainers = [], containers } = pod.spec
  const started = containers.some(({ name }) => records.some(record => record.container === name))
  // A container that ran shows that the init containers had succeeded.
  const pending = started
    ? undefined
    : initContainers.find(({ name }) => latestOf(records, name)?.exitCode !== 0)
  if (pending) {
    step(plan, { ...facts, pod }, pending, true)
    return plan
  }
  for (const container of containers) step(plan, { ...facts, pod }, container, false)
  return plan
}

function step(
  plan: PodPlan,
  facts: PodFacts & { pod: StaticPod },
  container: Container,
  init: boolean,
): void {
  const { pod, records, unhealthy, since, backoff } = facts
  const { name } = container
  const latest = latestOf(records, name)
  // The last dead run stays, for its exit code and its log.
  plan.remove.push(
    ...records.filter(
      record =>
        record.container === name && record.attempt < (latest?.attempt ?? 0) - 1 && record.state === 'Exited',
    ),
  )
  if (!latest) {
    plan.start.push({ pod, container, init, attempt: 0, crashes: 0 })
    return
  }
  if (latest.state === 'Running') {
    if (unhealthy.has(latest.id)) plan.stop.push(latest)
    return
  }
  if (!restarts(pod, latest, init)) return
  const ran = Math.max(0, (latest.finishedAt ?? latest.startedAt) - latest.startedAt)
  const crashes = crashesAfter(latest.crashes, ran, backoff)
  const wait = restartDelay(crashes, backoff) - since(latest)
  if (wait > 0) plan.waiting.set(name, wait)
  else plan.start.push({ pod, container, init, attempt: latest.attempt + 1, crashes })
}

/** Whether a run that ended is followed by another one. */
export function restarts({ spec }: StaticPod, { exitCode }: ContainerRecord, init: boolean): boolean {
  const policy = spec.restartPolicy ?? 'Always'
  if (policy === 'Never') return false
  return exitCode !== 0 || (policy === 'Always' && !init)
}

/** The last run of a container. */
export function latestOf(
  records: readonly ContainerRecord[],
  container: string,
): ContainerRecord | undefined {
  let latest: ContainerRecord | undefined
  for (const record of records) {
    if (record.container === container && (!latest || record.attempt > latest.attempt)) latest = record
  }
  return latest
}
