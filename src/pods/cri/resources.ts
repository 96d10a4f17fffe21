import { parseQuantity } from '../manifest/quantity.ts'
import type { Container, StaticPod } from '../pod.ts'
import type { ContainerResources } from './cri-types.ts'

export type QosClass = 'guaranteed' | 'burstable' | 'besteffort'

const cpuPeriod = 100_000
const leastShares = 2
const leastQuota = 1000
/** Priority from which on Kubernetes counts a pod as critical. */
const criticalPriority = 2_000_000_000

function allContainers({ spec }: StaticPod): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers]
}

/** What a container asks for; a request that is absent is its limit. */
function asked({ resources = {} }: Container, name: string): { request: number; limit: number } {
  const limit = parseQuantity(resources.limits?.[name]) ?? 0
  return { request: parseQuantity(resources.requests?.[name]) ?? limit, limit }
}

/** Kubernetes' class of the pod, which decides where its cgroup lies and who is killed first for want of memory. */
export function qosClass(pod: StaticPod): QosClass {
  const wishes = allContainers(pod).flatMap(container =>
    ['cpu', 'memory'].map(name => asked(container, name)),
  )
  if (wishes.every(({ request }) => request === 0)) return 'besteffort'
  return wishes.every(({ request, limit }) => limit > 0 && request === limit) ? 'guaranteed' : 'burstable'
}

/** The limits of a container as the kubelet gives them to the runtime. `nodeMemory` in bytes. */
export function resourcesOf(pod: StaticPod, container: Container, nodeMemory: number): ContainerResources {
  const [cpu, memory] = [asked(container, 'cpu'), asked(container, 'memory')]
  return {
    cpuShares: Math.max(leastShares, Math.floor(cpu.request * 1024)),
    ...(cpu.limit > 0 && { cpuPeriod, cpuQuota: Math.max(leastQuota, Math.floor(cpu.limit * cpuPeriod)) }),
    ...(memory.limit > 0 && { memoryLimitInBytes: Math.floor(memory.limit) }),
    oomScoreAdj: oomScore(pod, memory.request, nodeMemory),
  }
}

/** The kubelet's: critical and guaranteed pods last, those that asked for nothing first. */
function oomScore(pod: StaticPod, memoryRequest: number, nodeMemory: number): number {
  const { priority = 0, priorityClassName } = pod.spec
  if (priority >= criticalPriority || priorityClassName === 'system-node-critical') return -997
  const qos = qosClass(pod)
  if (qos !== 'burstable') return qos === 'guaranteed' ? -997 : 1000
  const score = Math.floor(1000 - (1000 * memoryRequest) / nodeMemory)
  return Math.min(999, Math.max(3, score))
}
