/** 3.7: rotations that begin by themselves, before the CA in charge would end amid one. */
import { whoAmI } from '../../doctor/requests/who-am-i.ts'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { type TrustRole, trustRoles } from '../../kube/rollcall/trust-bundle.ts'
import type { Clock, Log } from '../../ports.ts'
import { whyDue } from '../../rollover/due.ts'
import { policyOf } from '../../rollover/policy.ts'
import { generationsOf } from '../../rollover/readiness-facts.ts'
import type { CertificateAuthority } from '../issue-pair.ts'

export interface DueRotations {
  client: KubeClient
  rotations: readonly CARotationObject[]
  authority(role: TrustRole, generation: number): CertificateAuthority | undefined
  /** Life of the longest leaf, in milliseconds. */
  leafLife: number
  clock: Clock
  log: Log
}

/**
 * Creates what is due. A CA whose key is in a token or behind a signer is left to its people: its successor's key would be
 * made in a file. So is a rotation of this number that was tried before and did not end well.
 */
export async function beginDueRotations(facts: DueRotations): Promise<void> {
  const { client, rotations, authority, leafLife, clock, log } = facts
  for (const role of trustRoles) {
    const { from, to, running } = generationsOf(role, rotations)
    const active = authority(role, from)
    if (running !== undefined || !active || !('exportPem' in active.signer) || to !== from + 1) continue
    const { timings } = policyOf()
    const reason = whyDue({ active: active.certificate, timings, leafLife, now: clock.now() })
    if (reason === undefined) continue
    // Admission holds the author to the user who asks.
    const author = (await whoAmI(client)) ?? ''
    try {
      await client.create<CARotationObject>(caRotation.ref, {
        apiVersion: 'rollcall.dev/v1alpha1',
        kind: 'CARotation',
        metadata: { name: `${role}-${to}`, annotations: { 'rollcall.dev/due': reason } },
        spec: { role, reason: 'Scheduled', from, to, author, policy: { bridge: bridgeOf(role) } },
      })
      log.info('a CA rotation begins by itself', { role, from, to, why: reason })
    } catch (error) {
      if (!isStatus(error, 'AlreadyExists')) throw error
    }
  }
}

/** Signers hand out leaves alone, so that only the API server's own chain can be bridged by a certificate beside it. */
function bridgeOf(role: TrustRole): 'CrossSigned' | 'None' {
  return role === 'apiserver-serving' ? 'CrossSigned' : 'None'
}
