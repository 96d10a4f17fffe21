import { isStatus, listAll } from '../kube/client.ts'
import { type CARotationObject, caRotation, usualPhases } from '../kube/rollcall/ca-rotation.ts'
import { type TrustConsumerObject, trustConsumer } from '../kube/rollcall/trust-consumer.ts'
import type { KubeObject, ResourceRef } from '../kube/types.ts'
import type { Viewer } from './access/viewer.ts'

/** What the rollover board shows; `served` false: this cluster knows no such kinds. */
export interface Rotations {
  served: boolean
  /** The phases that a rotation goes through when nothing goes wrong. */
  way: readonly string[]
  rotations: {
    name: string
    role: string
    reason: string
    from: number
    to: number
    author: string
    created?: string
    phase: string
    paused: boolean
    gates: NonNullable<NonNullable<CARotationObject['status']>['gates']>
    blockers: string[]
    latestStart?: string
  }[]
  consumers: {
    name: string
    kind: string
    identity: string
    state: string
    roles: string[]
    proofs: Proof[]
  }[]
}

interface Proof {
  role: string
  level: number
  generation: number
  at: string
}

/** With the viewer's own rights: rejects with an ApiStatusError 403 where he may not see them. */
export async function readRotations({ client }: Viewer): Promise<Rotations> {
  const [rotations, consumers] = await Promise.all([
    listServed<CARotationObject>(client, caRotation.ref),
    listServed<TrustConsumerObject>(client, trustConsumer.ref),
  ])
  return {
    served: rotations !== undefined,
    way: usualPhases,
    rotations: (rotations ?? []).map(({ metadata, spec, status = {} }) => ({
      name: metadata.name,
      role: spec.role,
      reason: spec.reason,
      from: spec.from,
      to: spec.to,
      author: spec.author,
      ...(metadata.creationTimestamp && { created: metadata.creationTimestamp }),
      phase: status.phase ?? 'Preflight',
      paused: spec.pause === true || status.phase === 'Paused',
      gates: status.gates ?? [],
      blockers: status.blockers ?? [],
      ...(status.latestStart && { latestStart: status.latestStart }),
    })),
    consumers: (consumers ?? []).map(({ metadata, spec, status = {} }) => ({
      name: metadata.name,
      kind: spec.consumerKind,
      identity: spec.identity,
      state: status.state ?? 'Unknown',
      roles: spec.roles,
      proofs: (status.proofs ?? []).map(({ role, level, generation, at }) => ({
        role,
        level,
        generation,
        at,
      })),
    })),
  }
}

async function listServed<T extends KubeObject>(
  client: Viewer['client'],
  ref: ResourceRef,
): Promise<T[] | undefined> {
  try {
    return (await listAll<T>(client, ref)).items
  } catch (error) {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  }
}
