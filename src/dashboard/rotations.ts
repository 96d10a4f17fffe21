import { isStatus } from '../kube/client.ts'
import { type CARotationObject, usualPhases } from '../kube/rollcall/ca-rotation.ts'
import type { RoleObjects } from '../rollover/readiness-facts.ts'
import { planOf } from '../rollover/rotation-object.ts'
import type { Viewer } from './access/viewer.ts'
import { consumersFor, roleObjects } from './role-consumers.ts'

/** What the rollover board shows; `served` false: this cluster knows no such kinds. */
export interface Rotations {
  served: boolean
  /** The phases that a rotation goes through when nothing goes wrong. */
  way: readonly string[]
  /** Of each role the one that goes on, or else the last. */
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
    consumers: CalledConsumer[]
  }[]
}

/** One who verifies by the CA of the role. */
export interface CalledConsumer {
  id: string
  kind: string
  /** How it stands by its last sign of life. */
  state: string
  /** It has proven that it trusts the CA that comes, or somebody vouches for it. */
  answered: boolean
  why: string
}

/** With the viewer's own rights: rejects with an ApiStatusError 403 where he may not see them. `now` in milliseconds. */
export async function readRotations({ client }: Viewer, now: number): Promise<Rotations> {
  const objects = await roleObjects(client).catch(error => {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  })
  return {
    served: objects !== undefined,
    way: usualPhases,
    rotations: objects ? currentOf(objects.rotations).map(rotation => shown(rotation, objects, now)) : [],
  }
}

const over: ReadonlySet<string | undefined> = new Set(['Done', 'Aborted', 'RolledBack'])

function currentOf(rotations: readonly CARotationObject[]): CARotationObject[] {
  const roles = Map.groupBy(rotations, ({ spec }) => spec.role)
  return [...roles.values()].flatMap(of => of.find(({ status }) => !over.has(status?.phase)) ?? of.slice(-1))
}

function shown(
  rotation: CARotationObject,
  objects: RoleObjects,
  now: number,
): Rotations['rotations'][number] {
  const { metadata, spec, status = {} } = rotation
  return {
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
    consumers: called(rotation, objects, now),
  }
}

/** By the rules of `rollcall ca status`. */
function called(rotation: CARotationObject, objects: RoleObjects, now: number): CalledConsumer[] {
  const states = new Map(objects.consumers.map(({ spec, status }) => [spec.identity, status?.state]))
  return consumersFor(planOf(rotation, now), objects, now).consumers.map(({ id, kind, verdict, why }) => ({
    id,
    kind,
    state: verdict === 'Excluded' ? 'Excluded' : (states.get(id) ?? 'Unknown'),
    answered: verdict === 'Proven',
    why,
  }))
}
