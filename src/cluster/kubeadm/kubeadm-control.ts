/** All that the adapters of a cluster of kubeadm work with, made once for its roles. */
import type { KubeClient } from '../../kube/client.ts'
import type { Connect } from '../../kube/transport.ts'
import type { Clock, Log, Random } from '../../ports.ts'
import type { Observations } from '../../rollover/observations.ts'
import type { Leaf } from '../../sign/leaf.ts'
import type { KeyId } from '../../trust/control-plane-orders.ts'
import type { ControlPlaneRole } from '../../trust/control-plane-report.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import type { OpenTrustRoots } from '../rollover/trust-root.ts'

export interface KubeadmControl {
  /** Names of the control-plane nodes, by the operator: a Node that only calls itself one is sealed no key. */
  nodes: readonly string[]
  /**
   * SHA-256 of each node's own key, by name: without it who has the key of the client CA can have the next one sealed to
   * himself. Absent: the certificate of a node is enough.
   */
  identities?: Readonly<Record<string, string>>
  /** Port of kube-apiserver on each of them. */
  port: number
  cas: CaStore
  roots: OpenTrustRoots
  client: KubeClient
  /** Connections of its own to each API server. */
  connect: Connect
  /** This controller's own way to the API: the CAs it goes by (PEM), and the certificate that it shows. */
  connection: { trusts(): string; presents(): string | undefined }
  leader(): Promise<Observations['leader']>
  /** Certificates of a ledger of ours that have not ended; none where kube-controller-manager signs. */
  leaves(): Promise<readonly Leaf[]>
  clock: Clock
  random: Random
  log: Log
}

/** By which name orders call a CA. */
export function keyIdIn(cas: CaStore, role: ControlPlaneRole, generation: number): KeyId | undefined {
  const identifier = cas.authority(role, generation)?.certificate.subjectKeyIdentifier
  return identifier && Buffer.from(identifier).toString('hex')
}

/** Which CA of the role is called so. */
export function generationIn(
  cas: CaStore,
  role: ControlPlaneRole,
  id: KeyId | undefined,
): number | undefined {
  return cas.generations(role).find(generation => keyIdIn(cas, role, generation) === id)
}
