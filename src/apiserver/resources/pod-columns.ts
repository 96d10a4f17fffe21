import type { KubeObject } from '../../kube/types.ts'
import { ageOf } from '../wire/human-duration.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import type { Column } from './resource.ts'

interface ContainerStatus {
  ready?: boolean
  restartCount?: number
  state?: {
    waiting?: { reason?: string }
    running?: object
    terminated?: { reason?: string; signal?: number; exitCode?: number }
  }
  lastState?: { terminated?: { finishedAt?: string } }
}

/** The fields of a Pod that are served here by name; the others are kept as they are. */
export interface Pod extends KubeObject {
  spec?: {
    containers?: { name?: string; image?: string; [field: string]: unknown }[]
    nodeName?: string
    restartPolicy?: string
    serviceAccountName?: string
    schedulerName?: string
    hostNetwork?: boolean
    [field: string]: unknown
  }
  status?: {
    phase?: string
    qosClass?: string
    reason?: string
    podIP?: string
    nominatedNodeName?: string
    conditions?: { type: string; status: string }[]
    containerStatuses?: ContainerStatus[]
  }
}

const statuses = ({ status }: Pod) => status?.containerStatuses ?? []

const isRunning = ({ ready, state }: ContainerStatus) => Boolean(ready && state?.running)

function reasonOf({ state }: ContainerStatus): string | undefined {
  if (state?.waiting?.reason) return state.waiting.reason
  if (!state?.terminated) return undefined
  const { reason, signal, exitCode = 0 } = state.terminated
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`)
}

/** The phase, or what keeps the first container from running; `Terminating` while it is being deleted. */
function podStatus(pod: Pod): string {
  const phase = pod.status?.phase ?? ''
  if (pod.metadata.deletionTimestamp && phase !== 'Succeeded' && phase !== 'Failed') {
    return pod.status?.reason === 'NodeLost' ? 'Unknown' : 'Terminating'
  }
  const reason = statuses(pod).map(reasonOf).find(Boolean) ?? (pod.status?.reason || phase)
  if (reason !== 'Completed' || !statuses(pod).some(isRunning)) return reason
  const ready = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
  return ready ? 'Running' : 'NotReady'
}

function restarts(pod: Pod, now: number): string {
  const count = statuses(pod).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0)
  const last = statuses(pod)
    .map(({ lastState }) => lastState?.terminated?.finishedAt ?? '')
    .sort()
    .at(-1)
  return count > 0 && last ? `${count} (${ageOf(last, now)} ago)` : String(count)
}

export const podColumns: readonly Column<Pod>[] = [
  nameColumn,
  textColumn(
    'Ready',
    'The aggregate readiness state of this pod for accepting traffic.',
    pod => `${statuses(pod).filter(isRunning).length}/${pod.spec?.containers?.length ?? 0}`,
  ),
  textColumn('Status', 'The aggregate status of the containers in this pod.', podStatus),
  textColumn(
    'Restarts',
    'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
    restarts,
  ),
  ageColumn,
  textColumn('IP', 'podIP address allocated to the pod.', ({ status }) => status?.podIP || '<none>', 1),
  textColumn('Node', 'The node that the pod is bound to.', ({ spec }) => spec?.nodeName || '<none>', 1),
  textColumn(
    'Nominated Node',
    'nominatedNodeName is set only when this pod preempts other pods on the node.',
    ({ status }) => status?.nominatedNodeName || '<none>',
    1,
  ),
  textColumn('Readiness Gates', 'Not evaluated by this server.', () => '<none>', 1),
]
