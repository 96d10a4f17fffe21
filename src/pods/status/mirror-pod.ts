import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../kube/types.ts'
import { annotations, type PodSpec, type StaticPod } from '../pod.ts'
import type { PodStatus } from './pod-status.ts'

/** A pod as the API shows it. */
export interface ApiPod extends KubeObject {
  spec?: Partial<PodSpec>
  status?: Partial<PodStatus>
}

/** The pod that shows a static pod in the API; NodeRestriction takes it from the pod's own node, in this form only. */
export function mirrorPod(pod: StaticPod, node: { name: string; uid: string }): ApiPod {
  const { uid: _, ...metadata } = pod.metadata
  const hash = pod.metadata.annotations[annotations.hash] ?? ''
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, [annotations.mirror]: hash },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid, controller: true }],
    },
    spec: pod.spec,
  }
}

/** Whether a pod in the API is the mirror of this one: the same manifest, owned by the Node that is there now. */
export function isMirrorOf(found: ApiPod, pod: StaticPod, node: { uid: string }): boolean {
  const { annotations: marks = {}, ownerReferences = [], deletionTimestamp } = found.metadata
  const sameHash = marks[annotations.mirror] === pod.metadata.annotations[annotations.hash]
  return sameHash && ownerReferences[0]?.uid === node.uid && deletionTimestamp === undefined
}

/** Whether a pod in the API is some mirror pod that was made from a file. */
export function isMirror({ metadata }: ApiPod): boolean {
  return (
    metadata.annotations?.[annotations.mirror] !== undefined &&
    metadata.annotations[annotations.source] === 'file'
  )
}

/**
 * The merge patch that brings the status in the API up to date; undefined: it is. A condition that stays keeps the moment
 * at which it became so. `now`: milliseconds since the epoch.
 */
export function mirrorStatusPatch(found: ApiPod, status: PodStatus, now: number): object | undefined {
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`
  const before = new Map((found.status?.conditions ?? []).map(condition => [condition.type, condition]))
  const conditions = status.conditions.map(condition => {
    const known = before.get(condition.type)
    const stays = known?.status === condition.status && known.lastTransitionTime
    return { ...condition, lastTransitionTime: stays || time }
  })
  const wanted: Record<string, unknown> = { reason: undefined, message: undefined, ...status, conditions }
  const current: Record<string, unknown> = { ...found.status }
  const changed = Object.keys(wanted).filter(
    key => !isDeepStrictEqual(plain(wanted[key]), plain(current[key])),
  )
  if (changed.length === 0) return undefined
  return { status: Object.fromEntries(changed.map(key => [key, wanted[key] ?? null])) }
}

/** As JSON carries it: without undefined. */
function plain(value: unknown): unknown {
  return value === undefined || value === null ? undefined : (JSON.parse(JSON.stringify(value)) as unknown)
}
