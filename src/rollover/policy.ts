/** How carefully, how fast. All times in milliseconds. */
import type { RotationPolicySpec } from '../kube/rollcall/ca-rotation.ts'
import { durationMilliseconds } from '../kube/rollcall/duration.ts'
import { type RotationTiming, rotationTimings } from '../kube/rollcall/rotation-timings.ts'
import type { ConsumerKind, ProofLevel } from '../kube/rollcall/trust-consumer.ts'

export type Timings = Readonly<Record<RotationTiming, number>>

export interface Policy {
  timings: Timings
  minimumProof: Readonly<Record<ConsumerKind, ProofLevel>>
  maxUnavailablePercent: number
  offline: 'Wait' | 'ExcludeAfter' | 'Block'
  bridge: 'CrossSigned' | 'None'
  approvals: number
}

/**
 * What each kind can prove at best without help: servers and agents a handshake (L3), a kubelet that its process is newer
 * than its file (L2), a pod that it was started after publication (L2); others outside a handshake, or the word of a named
 * human, which counts as L3.
 */
const minimumProof: Policy['minimumProof'] = {
  APIServer: 3,
  ControllerManager: 3,
  Scheduler: 3,
  Orchestrator: 3,
  Kubelet: 2,
  Agent: 3,
  Pod: 2,
  Monitoring: 3,
  External: 3,
}

/** The policy of a spec, with defaults. Throws RangeError on a malformed duration. */
export function policyOf(spec: RotationPolicySpec = {}): Policy {
  const names = Object.keys(rotationTimings) as RotationTiming[]
  const entries = names.map(name => [
    name,
    durationMilliseconds(spec.timings?.[name] ?? rotationTimings[name].default),
  ])
  return {
    timings: Object.fromEntries(entries) as Timings,
    minimumProof: { ...minimumProof, ...spec.minimumProof },
    maxUnavailablePercent: spec.maxUnavailablePercent ?? 10,
    offline: spec.offline ?? 'Wait',
    bridge: spec.bridge ?? 'CrossSigned',
    approvals: spec.approvals ?? 0,
  }
}
