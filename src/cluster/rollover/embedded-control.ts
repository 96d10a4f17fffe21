/** All that an adapter of the embedded API works with, made once for all roles. */
import type { OpenConnections } from '../../apiserver/http/open-connections.ts'
import type { ObjectReader } from '../../apiserver/reader.ts'
import type { KubeletTrust } from '../../apiserver/tunnel/dial-kubelet.ts'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { type ConfigMap, resources } from '../../kube/types.ts'
import type { Clock, Log, Random } from '../../ports.ts'
import type { HealthFacts, Observations } from '../../rollover/observations.ts'
import type { Leaf } from '../../sign/leaf.ts'
import type { CertificateAuthority } from '../issue-pair.ts'
import type { ApiLease } from './api-lease.ts'
import type { CaStore } from './ca-store.ts'
import type { EmbeddedTrust } from './embedded-trust.ts'
import type { ForeignLeaves } from './foreign-leaves.ts'
import type { Place } from './handshakes.ts'
import { decodeState, encodeState, type RoleState, stateConfigMap } from './role-state.ts'
import type { OpenTrustRoots } from './trust-root.ts'
import type { TrustSink } from './trust-sinks.ts'

export interface EmbeddedControl {
  trust: EmbeddedTrust
  cas: CaStore
  roots: OpenTrustRoots
  sinks: readonly TrustSink[]
  reader: ObjectReader
  client: KubeClient
  connections: Pick<OpenConnections, 'retire' | 'cut'>
  /** Where the API itself is reached. */
  place: Place
  kubelets: KubeletTrust
  /** Certificates issued that have not ended. */
  leaves(): Promise<readonly Leaf[]>
  /** Client certificates that are in use and not among them. */
  foreign: ForeignLeaves
  /** Where the API tells what it has loaded. */
  lease: ApiLease
  /** Whether every living leaf is among them. */
  ledgerComplete(): boolean
  /** The control plane's own leaves of a role, by name, and how each is made anew. */
  own: Readonly<Partial<Record<TrustRole, Readonly<Record<string, OwnLeaf>>>>>
  health(): Pick<HealthFacts, 'errorRate'>
  /** A copy of the state from before the rotation is there; makes it where it is missing. */
  backUp(rotation: string): Promise<boolean>
  leader(): Observations['leader']
  instance: string
  clock: Clock
  random: Random
  log: Log
}

export interface OwnLeaf {
  /** CA that issued what is held. */
  issuer(): number | undefined
  /** By the CA that signs now, or by this one. */
  renew(ca?: CertificateAuthority): Promise<void>
}

/** Fence of an order; undefined: not by an orchestrator. */
type Fence = RoleState['fence']

/**
 * Changes the state of a role where the fence lets it, and puts it in force. Rejects when the API does not take it; a
 * conflict is somebody else's write, and the next turn decides anew.
 */
export async function changeState(
  { reader, client, trust }: Pick<EmbeddedControl, 'reader' | 'client' | 'trust'>,
  role: TrustRole,
  fence: Fence,
  change: (state: RoleState) => Partial<RoleState>,
): Promise<void> {
  const current = reader.get<ConfigMap>(resources.configMaps, stateConfigMap.name, stateConfigMap.namespace)
  const state = decodeState(current?.data)
  const before = state[role]
  const stale =
    fence.token < before.fence.token ||
    (fence.token === before.fence.token && fence.sequence < before.fence.sequence)
  if (stale) return
  const next = { ...state, [role]: { ...before, ...change(before), fence } }
  const object: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: current?.metadata ?? stateConfigMap,
    data: { ...current?.data, ...encodeState(next) },
  }
  try {
    if (current) await client.update(resources.configMaps, object)
    else await client.create(resources.configMaps, object)
  } catch (error) {
    if (isStatus(error, 'Conflict') || isStatus(error, 'AlreadyExists')) return
    throw error
  }
  await trust.follow()
}
