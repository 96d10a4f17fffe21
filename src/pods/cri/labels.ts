/** How a runtime's pods and containers are told apart: the kubelet's labels, so that crictl and a kubelet know them, and ours. */
import { podKey, revisionOf, type StaticPod } from '../pod.ts'
import type { StartOrder } from '../runtime.ts'
import { kubeletHash } from './container-hash.ts'

export const labels = {
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUid: 'io.kubernetes.pod.uid',
  containerName: 'io.kubernetes.container.name',
  /** `true`: started by an agent of ours, which alone may stop it. */
  managed: 'rollcall.dev/managed',
  /** Which agent: its state folder. */
  agent: 'rollcall.dev/agent',
} as const

export const criAnnotations = {
  /** JSON of the static pod as it was when it was started. */
  pod: 'rollcall.dev/pod',
  revision: 'rollcall.dev/revision',
  init: 'rollcall.dev/init',
  crashes: 'rollcall.dev/crashes',
  podGrace: 'io.kubernetes.pod.terminationGracePeriod',
  restartCount: 'io.kubernetes.container.restartCount',
  hash: 'io.kubernetes.container.hash',
  terminationMessagePath: 'io.kubernetes.container.terminationMessagePath',
  terminationMessagePolicy: 'io.kubernetes.container.terminationMessagePolicy',
} as const

/** What everything that this agent started carries. */
export function ownLabels(agent: string): Record<string, string> {
  return { [labels.managed]: 'true', [labels.agent]: agent }
}

export function sandboxLabels({ metadata }: StaticPod, agent: string): Record<string, string> {
  return {
    ...metadata.labels,
    [labels.podName]: metadata.name,
    [labels.podNamespace]: metadata.namespace,
    [labels.podUid]: metadata.uid,
    ...ownLabels(agent),
  }
}

export function sandboxAnnotations(pod: StaticPod): Record<string, string> {
  return {
    ...pod.metadata.annotations,
    [criAnnotations.revision]: revisionOf(pod),
    [criAnnotations.pod]: JSON.stringify(pod),
  }
}

export function containerLabels({ pod, container }: StartOrder, agent: string): Record<string, string> {
  const { name, namespace, uid } = pod.metadata
  return {
    [labels.podName]: name,
    [labels.podNamespace]: namespace,
    [labels.podUid]: uid,
    [labels.containerName]: container.name,
    ...ownLabels(agent),
  }
}

export function containerAnnotations({
  pod,
  container,
  init,
  attempt,
  crashes,
}: StartOrder): Record<string, string> {
  const grace = pod.spec.terminationGracePeriodSeconds
  return {
    [criAnnotations.hash]: kubeletHash(container),
    [criAnnotations.restartCount]: String(attempt),
    [criAnnotations.terminationMessagePath]: '/dev/termination-log',
    [criAnnotations.terminationMessagePolicy]: 'File',
    ...(grace !== undefined && { [criAnnotations.podGrace]: String(grace) }),
    [criAnnotations.revision]: revisionOf(pod),
    [criAnnotations.init]: String(init),
    [criAnnotations.crashes]: String(crashes),
  }
}

/** `namespace/name` by the labels of a pod or container; undefined: they name none. */
export function labelledPod(of: Readonly<Record<string, string>>): string | undefined {
  const [name, namespace] = [of[labels.podName], of[labels.podNamespace]]
  return name && namespace ? `${namespace}/${name}` : undefined
}

/** The static pod that a sandbox was made for; undefined: it cannot be read. */
export function podOfSandbox(annotations: Readonly<Record<string, string>>): StaticPod | undefined {
  try {
    const pod = JSON.parse(annotations[criAnnotations.pod] ?? '') as StaticPod
    return podKey(pod) && pod.metadata.uid && Array.isArray(pod.spec.containers) ? pod : undefined
  } catch {
    return undefined
  }
}
