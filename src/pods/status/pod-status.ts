import { latestOf, restarts } from '../lifecycle/plan-pod.ts'
import type { Container } from '../pod.ts'
import type { ContainerRecord } from '../runtime.ts'
import type { PodView } from './pod-view.ts'

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

export interface PodCondition {
  type: 'PodReadyToStartContainers' | 'Initialized' | 'Ready' | 'ContainersReady' | 'PodScheduled'
  status: 'True' | 'False'
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export interface ContainerStatus {
  name: string
  image: string
  imageID: string
  containerID?: string
  ready: boolean
  started: boolean
  restartCount: number
  state: Record<string, unknown>
  lastState: Record<string, unknown>
}

export interface PodStatus {
  phase: PodPhase
  reason?: string
  message?: string
  conditions: PodCondition[]
  hostIP?: string
  hostIPs?: { ip: string }[]
  podIP?: string
  podIPs?: { ip: string }[]
  startTime?: string
  initContainerStatuses?: ContainerStatus[]
  containerStatuses: ContainerStatus[]
}

/** The pod's status as Kubernetes shows it. `hostAddress`: the node's; on the host network also the pod's. */
export function podStatus(view: PodView, hostAddress: string | undefined): PodStatus {
  const { spec } = view.pod
  const init = (spec.initContainers ?? []).map(container => containerStatus(container, view))
  const containers = spec.containers.map(container => containerStatus(container, view))
  const initialized =
    spec.containers.some(({ name }) => latestOf(view.records, name)) || init.every(succeeded)
  const phase = phaseOf(view)
  const over = phase === 'Succeeded' || phase === 'Failed'
  const unready = containers.filter(({ ready }) => !ready).map(({ name }) => name)
  const notReady = {
    reason: over ? 'PodCompleted' : 'ContainersNotReady',
    message: `containers with unready status: [${unready.join(' ')}]`,
  }
  const addresses = spec.hostNetwork ? [hostAddress ?? []].flat() : (view.addresses ?? [])
  const condition = (type: PodCondition['type'], holds: boolean, why = {}): PodCondition => ({
    type,
    status: holds ? 'True' : 'False',
    ...(holds ? {} : why),
  })
  const first = view.records.map(({ startedAt }) => startedAt).sort((a, b) => a - b)[0]
  return {
    phase,
    ...view.problem,
    conditions: [
      condition('Initialized', initialized, { reason: 'ContainersNotInitialized' }),
      condition('Ready', unready.length === 0 && !over, notReady),
      condition('ContainersReady', unready.length === 0 && !over, notReady),
      condition('PodScheduled', true),
    ],
    ...(hostAddress !== undefined && { hostIP: hostAddress, hostIPs: [{ ip: hostAddress }] }),
    ...(addresses[0] !== undefined && { podIP: addresses[0], podIPs: addresses.map(ip => ({ ip })) }),
    ...(first !== undefined && { startTime: time(first) }),
    ...(init.length > 0 && { initContainerStatuses: init }),
    containerStatuses: containers,
  }
}

/** Whether all containers of the pod run and are ready. */
export function isReady(view: PodView): boolean {
  return podStatus(view, undefined).conditions.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  )
}

function phaseOf({ pod, records, problem }: PodView): PodPhase {
  const { initContainers = [], containers } = pod.spec
  const latest = containers.map(({ name }) => latestOf(records, name))
  const failedInit = initContainers.some(({ name }) => {
    const record = latestOf(records, name)
    return record?.state === 'Exited' && record.exitCode !== 0 && !restarts(pod, record, true)
  })
  if (failedInit) return 'Failed'
  if (latest.every(record => record?.state === 'Exited' && !restarts(pod, record, false))) {
    return latest.every(record => record?.exitCode === 0) ? 'Succeeded' : 'Failed'
  }
  return latest.some(record => record) && !(problem && latest.every(record => !record))
    ? 'Running'
    : 'Pending'
}

function containerStatus({ name, image }: Container, view: PodView): ContainerStatus {
  const records = view.records.filter(record => record.container === name)
  const latest = latestOf(records, name)
  const dead = latestOf(
    records.filter(({ state }) => state === 'Exited'),
    name,
  )
  const waiting =
    view.waiting.get(name) ?? (latest ? undefined : { reason: 'ContainerCreating', message: '' })
  const probes = latest && view.probes.get(latest.id)
  const running = latest?.state === 'Running'
  return {
    name,
    image,
    imageID: latest?.imageID ?? '',
    ...(latest && { containerID: latest.id }),
    ready: latest?.init ? latest.exitCode === 0 : running && (probes?.ready ?? true),
    started: running && (probes?.started ?? true),
    restartCount: latest?.attempt ?? 0,
    state: stateOf(latest, waiting),
    lastState: dead && (running || waiting) ? { terminated: terminated(dead) } : {},
  }
}

function stateOf(
  latest: ContainerRecord | undefined,
  waiting: { reason: string; message: string } | undefined,
) {
  if (latest?.state === 'Running') return { running: { startedAt: time(latest.startedAt) } }
  if (waiting)
    return { waiting: { reason: waiting.reason, ...(waiting.message && { message: waiting.message }) } }
  return latest ? { terminated: terminated(latest) } : {}
}

function terminated({ exitCode, reason, message, startedAt, finishedAt, id }: ContainerRecord) {
  return {
    exitCode: exitCode ?? 137,
    reason: reason ?? 'Error',
    ...(message && { message }),
    startedAt: time(startedAt),
    ...(finishedAt !== undefined && { finishedAt: time(finishedAt) }),
    containerID: id,
  }
}

function succeeded({ state }: ContainerStatus): boolean {
  const { terminated } = state as { terminated?: { exitCode: number } }
  return terminated?.exitCode === 0
}

/** RFC 3339 in whole seconds, as Kubernetes writes it. */
function time(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}
