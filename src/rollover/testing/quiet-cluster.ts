/** A cluster in which everything is as the phase wants it; a test changes one thing and looks what the step says. */

import type { RotationPolicySpec, RotationReason } from '../../kube/rollcall/ca-rotation.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { ConsumerKind } from '../../kube/rollcall/trust-consumer.ts'
import type { AuthorityFacts, ConsumerFacts, Observations } from '../observations.ts'
import { newPlan, noWishes, type Phase, type Plan } from '../plan.ts'
import { policyOf } from '../policy.ts'

export const start = Date.parse('2026-06-01T00:00:00Z')
export const minutes = 60_000
export const hours = 60 * minutes
export const days = 24 * hours

/** Bundles: 1 the old CA, 2 both, 3 the new one, 4 both again, 5 the new one again. */
export const steadyBundle = 1
export const wideBundle = 2
export const narrowBundle = 3
export const restoredBundle = 4

export interface PlanChange extends Partial<Omit<Plan, 'policy'>> {
  policy?: RotationPolicySpec
}

export function planIn(phase: Phase, { policy, ...change }: PlanChange = {}): Plan {
  const reason: RotationReason = change.reason ?? 'Scheduled'
  const role: TrustRole = change.role ?? 'apiserver-serving'
  const plan = newPlan({
    id: 'rotation-1',
    role,
    reason,
    author: 'anna',
    from: 1,
    to: 2,
    policy: policyOf(policy),
    wishes: noWishes,
    now: start,
  })
  const distributed =
    phase === 'Preflight' || phase === 'Prepared' || phase === 'Freezing'
      ? {}
      : { bundle: wideBundle, serverBundle: wideBundle }
  return { ...plan, phase, sequence: 10, fencing: 1, ...distributed, ...change }
}

export function authority(generation: number, change: Partial<AuthorityFacts> = {}): AuthorityFacts {
  return {
    generation,
    subject: `rollcall-apiserver-serving-ca-${generation}`,
    keyIdentifier: `0${generation}`,
    key: `key-${generation}`,
    algorithm: 'P-256',
    notBefore: start - 365 * days,
    notAfter: start + (generation === 1 ? 1000 : 3650) * days,
    mayCrossSign: true,
    keyUsable: true,
    ...change,
  }
}

export function consumer(
  id: string,
  kind: ConsumerKind = 'Kubelet',
  change: Partial<ConsumerFacts> = {},
): ConsumerFacts {
  return {
    id,
    kind,
    roles: ['apiserver-serving', 'client', 'kubelet-serving'],
    instance: 'boot-1',
    lastSeen: start,
    orderable: true,
    reloads: kind !== 'Kubelet',
    onDisk: wideBundle,
    proof: { level: 3, generation: wideBundle, instance: 'boot-1', at: start, authorities: [1, 2] },
    ...change,
  }
}

/** Everybody has proven bundle 2, both servers present the old chain, the old CA signs. */
export function quiet(change: Partial<Observations> = {}): Observations {
  return {
    gatheredAfter: 1000,
    now: start,
    clockSkew: 0,
    leader: { identity: 'orchestrator', token: 1 },
    preflight: { oldKeyUsable: true, quorumHealthy: true, backupRecent: true },
    authorities: new Map([1, 2].map(generation => [generation, authority(generation)])),
    artefacts: { newCa: true, newByOld: true, oldByNew: true },
    bundles: [[1], [1, 2], [2], [1, 2], [2]].map((anchors, index) => {
      return { generation: index + 1, digest: `${index + 1}`, anchors }
    }),
    sinks: ['kube-root-ca.crt', 'cluster-info'].map(id => {
      return { id, seed: id === 'cluster-info', generation: wideBundle, anchors: [1, 2] }
    }),
    servers: ['api-1', 'api-2'].map(id => ({
      id,
      instance: 'boot-1',
      healthy: true,
      presents: { authority: 1, mode: 'old' as const, since: start - days },
      probes: { oldOnly: true, newOnly: true, both: true },
    })),
    signer: { authority: 1, mode: 'old', canaryAccepted: [1, 2] },
    consumers: ['node-1', 'node-2', 'node-3'].map(id => consumer(id)),
    leaves: { holders: new Map(), ledgerComplete: true, lastUsed: new Map() },
    health: { errorRate: 0, baselineErrorRate: 0, failedInWave: 0, oldestPendingRequest: 0 },
    ...change,
  }
}

/** The same an age later: who lives has shown it and proven again. */
export function later(seen: Observations, milliseconds: number): Observations {
  const now = seen.now + milliseconds
  const consumers = seen.consumers.map(one => ({
    ...one,
    lastSeen: one.lastSeen + milliseconds,
    ...(one.proof ? { proof: { ...one.proof, at: one.proof.at + milliseconds } } : {}),
  }))
  return { ...seen, now, consumers }
}

/** Both servers present this chain of the new CA since a day. */
export function presenting(mode: 'bridged' | 'bare', now = start): Observations['servers'] {
  return quiet().servers.map(server => ({ ...server, presents: { authority: 2, mode, since: now - days } }))
}
