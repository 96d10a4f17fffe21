import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { ControllerAdapter } from '../../rollover/controller.ts'
import { type GenericControl, leaderNow } from './generic-control.ts'

/** A rotation of a role whose CA nothing here can change: it is refused at the door, with why, and ends Aborted. */
export function unmanagedAdapter(role: TrustRole, control: GenericControl): ControllerAdapter {
  const unmanaged =
    role === 'kubelet-serving'
      ? 'kubelets are verified by API servers that nothing here can try; change their CA with the tools of the cluster'
      : `the file of --rollover names no CA of ${role}`
  return {
    gather: async () => ({
      now: control.clock.now(),
      clockSkew: 0,
      leader: await leaderNow(control),
      preflight: { oldKeyUsable: false, quorumHealthy: true, backupRecent: true, unmanaged },
      authorities: new Map(),
      artefacts: { newCa: false, newByOld: false, oldByNew: false },
      bundles: [],
      sinks: [],
      servers: [],
      signer: { canaryAccepted: [] },
      consumers: [],
      leaves: { holders: new Map(), ledgerComplete: false, lastUsed: new Map() },
      health: { errorRate: 0, baselineErrorRate: 0, failedInWave: 0, oldestPendingRequest: 0 },
    }),
    async carryOut() {},
    async ceremony() {},
    async finish() {},
  }
}
