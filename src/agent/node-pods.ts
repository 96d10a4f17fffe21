import type { StaticPod } from '../pods/pod.ts'
import type { ContainerRecord, Runtime } from '../pods/runtime.ts'
import type { ApiPod } from '../pods/status/mirror-pod.ts'
import { podStatus } from '../pods/status/pod-status.ts'
import type { PodView } from '../pods/status/pod-view.ts'

/** The pods of this node, for those who look at them through its HTTPS server. */
export interface NodePods {
  runtime: Runtime
  views(): readonly PodView[]
  /** The node's address; undefined: it knows none. */
  hostAddress(): string | undefined
}

/** undefined: there is none of this name. */
export function findPod(pods: NodePods | undefined, namespace: string, name: string): PodView | undefined {
  return pods
    ?.views()
    .find(({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name)
}

export function hasContainer({ spec }: StaticPod, name: string): boolean {
  return [...spec.containers, ...(spec.initContainers ?? [])].some(container => container.name === name)
}

/** The run of a container that runs now. */
export function runningContainer({ records }: PodView, name: string): ContainerRecord | undefined {
  return runsOf(records, name).find(({ state }) => state === 'Running')
}

/** The latest first. */
function runsOf(records: readonly ContainerRecord[], name: string): ContainerRecord[] {
  return records.filter(({ container }) => container === name).sort((a, b) => b.attempt - a.attempt)
}

/** The run whose log is meant, or the kubelet's sentence why there is none. */
export function loggedRun(
  { pod, records, waiting }: PodView,
  name: string,
  previous: boolean,
): ContainerRecord | string {
  const [latest, before] = runsOf(records, name)
  const { name: podName } = pod.metadata
  if (previous) {
    // A container that waits for its restart has ended before too.
    const dead = latest?.state === 'Exited' && waiting.has(name) ? latest : before
    return (
      dead ??
      `previous terminated container ${JSON.stringify(name)} in pod ${JSON.stringify(podName)} not found`
    )
  }
  if (latest) return latest
  const why = waiting.get(name)?.reason ?? 'ContainerCreating'
  return `container ${JSON.stringify(name)} in pod ${JSON.stringify(podName)} is waiting to start: ${why}`
}

/** What `/pods` shows; `/runningpods/` only those with a container that runs. */
export function podList(pods: NodePods | undefined, runningOnly: boolean): object {
  const views = pods?.views() ?? []
  const shown = runningOnly
    ? views.filter(({ records }) => records.some(({ state }) => state === 'Running'))
    : views
  const items = shown.map((view): ApiPod => {
    const { apiVersion, kind, metadata, spec } = view.pod
    return { apiVersion, kind, metadata, spec, status: podStatus(view, pods?.hostAddress()) }
  })
  return { kind: 'PodList', apiVersion: 'v1', metadata: {}, items }
}
