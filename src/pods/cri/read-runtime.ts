/** What runs, read from the runtime by labels: nothing else is remembered between two looks, or two agents. */

import type { StaticPod } from '../pod.ts'
import type { ContainerRecord } from '../runtime.ts'
import { type Cri, isNotFound } from './cri.ts'
import {
  type ContainerStatus,
  type CriContainer,
  containerState,
  type PodSandbox,
  sandboxReady,
} from './cri-types.ts'
import { criAnnotations, labelledPod, labels, ownLabels, podOfSandbox } from './labels.ts'

export interface RuntimeContents {
  /** Ours, and those of everybody else. */
  sandboxes: PodSandbox[]
  foreign: PodSandbox[]
  /** Ours, by uid; of the newest sandbox. */
  pods: Map<string, StaticPod>
  /** Of ours that have a network of their own, by the sandbox's id. */
  addresses: ReadonlyMap<string, readonly string[]>
  /** Runs of ours, by their id in the runtime. */
  records: Map<string, ContainerRecord>
  /** Containers of ours that were made and not started. */
  unstarted: CriContainer[]
  /** In which sandbox each container is. */
  homes: Map<string, string>
}

/** Statuses that were read before, by id: a container is asked for its status when its state is another one. */
export type KnownStatuses = ReadonlyMap<string, ContainerStatus>

export async function readRuntime(
  cri: Cri,
  agent: string,
  runtimeName: string,
  known: KnownStatuses,
  knownAddresses: RuntimeContents['addresses'],
): Promise<{ contents: RuntimeContents; statuses: Map<string, ContainerStatus> }> {
  const [all, containers] = await Promise.all([cri.listPodSandbox(), cri.listContainers(ownLabels(agent))])
  const isOurs = ({ labels: of }: PodSandbox) => of[labels.managed] === 'true' && of[labels.agent] === agent
  const sandboxes = all.filter(isOurs).sort((a, b) => attemptOf(a) - attemptOf(b))
  const statuses = new Map<string, ContainerStatus>()
  const records = new Map<string, ContainerRecord>()
  const started = containers.filter(({ state }) => state !== containerState.created)
  await Promise.all(
    started.map(async container => {
      const before = known.get(container.id)
      const status =
        before?.state === container.state
          ? before
          : await cri.containerStatus(container.id).catch(nothingIfGone)
      if (!status) return
      statuses.set(container.id, status)
      const record = recordOf(container, status, runtimeName)
      if (record) records.set(container.id, record)
    }),
  )
  const pods = new Map<string, StaticPod>()
  const addresses = new Map<string, readonly string[]>()
  for (const sandbox of sandboxes) {
    const pod = podOfSandbox(sandbox.annotations)
    if (pod) pods.set(pod.metadata.uid, pod)
    if (!pod || pod.spec.hostNetwork || sandbox.state !== sandboxReady) continue
    const found = knownAddresses.get(sandbox.id) ?? (await addressesOf(cri, sandbox.id))
    if (found.length > 0) addresses.set(sandbox.id, found)
  }
  return {
    contents: {
      sandboxes,
      foreign: all.filter(sandbox => !isOurs(sandbox)),
      pods,
      addresses,
      records,
      unstarted: containers.filter(({ state }) => state === containerState.created),
      homes: new Map(containers.map(({ id, podSandboxId }) => [id, podSandboxId])),
    },
    statuses,
  }
}

/** Empty: it has none yet, or is gone. */
export async function addressesOf(cri: Cri, sandbox: string): Promise<string[]> {
  const status = await cri.podSandboxStatus(sandbox).catch(nothingIfGone)
  const { ip = '', additionalIps = [] } = status?.network ?? {}
  return [ip, ...additionalIps.map(({ ip }) => ip)].filter(ip => ip !== '')
}

function nothingIfGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}

/** undefined: it lacks the labels that say what it is. */
function recordOf(
  { id, imageRef, metadata, labels: of, annotations }: CriContainer,
  status: ContainerStatus,
  runtimeName: string,
): ContainerRecord | undefined {
  const [key, podUid, container] = [labelledPod(of), of[labels.podUid], of[labels.containerName]]
  if (!key || !podUid || !container) return undefined
  const facts = {
    id: `${runtimeName}://${id}`,
    podKey: key,
    podUid,
    revision: annotations[criAnnotations.revision] ?? '',
    container,
    init: annotations[criAnnotations.init] === 'true',
    attempt: metadata?.attempt ?? 0,
    crashes: Number(annotations[criAnnotations.crashes] ?? 0) || 0,
    imageID: imageRef,
    // One that could not be started has no time of its start.
    startedAt: status.startedAt || status.createdAt,
  }
  if (status.state === containerState.running) return { ...facts, state: 'Running' }
  return {
    ...facts,
    state: 'Exited',
    finishedAt: status.finishedAt || facts.startedAt,
    exitCode: status.state === containerState.exited ? status.exitCode : 137,
    reason: reasonOf(status),
    ...(status.message && { message: status.message }),
  }
}

function reasonOf({ reason, exitCode }: ContainerStatus): string {
  if (reason === 'StartError') return 'ContainerCannotRun'
  if (reason && reason !== 'Unknown') return reason
  return exitCode === 0 ? 'Completed' : 'Error'
}

export const nothingRuns: RuntimeContents = {
  sandboxes: [],
  foreign: [],
  pods: new Map(),
  addresses: new Map(),
  records: new Map(),
  unstarted: [],
  homes: new Map(),
}

export function attemptOf({ metadata }: PodSandbox): number {
  return metadata?.attempt ?? 0
}

/** The sandbox in which containers of this pod can be started now. */
export function usableSandbox(
  { sandboxes }: RuntimeContents,
  uid: string,
  revision: string,
): PodSandbox | undefined {
  return sandboxes.findLast(
    ({ state, labels: of, annotations }) =>
      state === sandboxReady &&
      of[labels.podUid] === uid &&
      annotations[criAnnotations.revision] === revision,
  )
}

/** What an agent or a runtime that died in the middle left. */
export interface Leftovers {
  /** Made and never started: the run is made anew. */
  containers: CriContainer[]
  /** Lost their namespaces while containers ran on in them; these have to go. */
  broken: PodSandbox[]
  /** Another one took their place, and nothing is in them. */
  superseded: PodSandbox[]
}

/** `busy`: uids of the pods that are being started now, which are left alone. */
export function leftovers(
  { sandboxes, unstarted, records, homes }: RuntimeContents,
  busy: ReadonlySet<string>,
): Leftovers {
  const idle = ({ labels: of }: { labels: Record<string, string> }) => !busy.has(of[labels.podUid] ?? '')
  const used = new Set([...records.keys()].map(id => homes.get(id)))
  const running = new Set(
    [...records].filter(([, { state }]) => state === 'Running').map(([id]) => homes.get(id)),
  )
  const gone = sandboxes.filter(sandbox => idle(sandbox) && sandbox.state !== sandboxReady)
  const newer = (one: PodSandbox) =>
    sandboxes.some(
      other => other.labels[labels.podUid] === one.labels[labels.podUid] && attemptOf(other) > attemptOf(one),
    )
  return {
    containers: unstarted.filter(idle),
    broken: gone.filter(({ id }) => running.has(id)),
    superseded: sandboxes.filter(sandbox => idle(sandbox) && !used.has(sandbox.id) && newer(sandbox)),
  }
}

/** The runtime's own id of a container. */
export function containerId({ id }: ContainerRecord): string {
  return id.slice(id.indexOf('://') + '://'.length)
}
