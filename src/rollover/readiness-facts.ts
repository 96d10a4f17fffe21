/** What objects of the cluster tell of a role's consumers, for `rollcall ca readiness`: read with a viewer's rights. */
import type { CARotationObject } from '../kube/rollcall/ca-rotation.ts'
import type { TrustBundleObject, TrustRole } from '../kube/rollcall/trust-bundle.ts'
import type { TrustConsumerObject } from '../kube/rollcall/trust-consumer.ts'
import type { ConsumerFacts } from './observations.ts'

export interface RoleObjects {
  consumers: readonly TrustConsumerObject[]
  bundles: readonly TrustBundleObject[]
  rotations: readonly CARotationObject[]
}

/** The CA that a role has, by the rotations that are done, and the number of the next one. */
export function generationsOf(
  role: TrustRole,
  rotations: readonly CARotationObject[],
): { from: number; to: number; running?: string } {
  const ofRole = rotations.filter(({ spec }) => spec.role === role)
  const done = ofRole.filter(({ status }) => status?.phase === 'Done').map(({ spec }) => spec.to)
  const over = new Set(['Done', 'Aborted', 'RolledBack'])
  const running = ofRole.find(({ status }) => !over.has(status?.phase ?? ''))
  const from = Math.max(1, ...done)
  return {
    from,
    to: Math.max(from, ...ofRole.map(({ spec }) => spec.to)) + 1,
    ...(running && { running: running.metadata.name }),
  }
}

/** A consumer as its object tells of it; what an object does not hold counts as not proven. */
export function consumerOf({ spec, status }: TrustConsumerObject, role: TrustRole): ConsumerFacts {
  const { consumerKind: kind, identity: id, node } = spec
  const proof = status?.proofs?.find(one => one.role === role)
  const instance = status?.instance ?? 'unknown'
  const reports = kind !== 'Pod' && kind !== 'External'
  return {
    id,
    kind,
    roles: spec.roles,
    instance,
    lastSeen: Date.parse(status?.lastSeen ?? '') || 0,
    // An API server is told by its own state, and who changes the CA reads its own files again.
    orderable: kind === 'APIServer' || kind === 'Orchestrator' || (node !== undefined && proof !== undefined),
    // Both read their kubeconfig once.
    reloads: reports && kind !== 'ControllerManager' && kind !== 'Scheduler',
    ...(node !== undefined && { node }),
    ...(status?.state === 'Gone' && { gone: true }),
    ...(status?.lastFailure !== undefined && { lastFailure: Date.parse(status.lastFailure) }),
    ...(proof && {
      proof: { ...proof, at: Date.parse(proof.at), ...(reports ? {} : { unproven: 0 as const }) },
    }),
  }
}
