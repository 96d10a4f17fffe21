/** All that the adapters of a cluster that is not ours work with, made once for its roles. */
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { type Lease, resources } from '../../kube/types.ts'
import type { Clock, Disk, Log, Random, Spawn } from '../../ports.ts'
import type { Observations } from '../../rollover/observations.ts'
import type { Leaf } from '../../sign/leaf.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import type { OpenTrustRoots } from '../rollover/trust-root.ts'
import type { ApiServerTrials } from './api-servers.ts'
import type { GenericTrust } from './generic-trust.ts'
import type { OwnConnection } from './own-connection.ts'
import type { ManagedRole, RolloverFile } from './rollover-file.ts'

export interface GenericControl {
  file: RolloverFile
  cas: Readonly<Partial<Record<ManagedRole, CaStore>>>
  roots: OpenTrustRoots
  trust: GenericTrust
  client: KubeClient
  connection: Pick<OwnConnection, 'trusts' | 'presents' | 'clockSkew'>
  /** Of this process, in the Lease of the leader. */
  identity: string
  /** Certificates issued that have not ended. */
  leaves(): Promise<readonly Leaf[]>
  /** Life of the longest of them, in milliseconds. */
  longestLeaf: number
  /** Acts as a node that there is not, to see by which CA somebody else signs; absent: it signs here. */
  asCanary?: KubeClient
  clock: Clock
  random: Random
  disk: Disk
  spawn: Pick<Spawn, 'run'>
  log: Log
}

/** One API server, and what it was tried with for a role. */
export type Servers = ReadonlyMap<string, ApiServerTrials>

export const leaderLease = { namespace: 'kube-system', name: 'rollcall-controller' }

/** As what this process acts: with the token of its own leadership, or, where another leads, with one that is refused. */
export async function leaderNow({
  client,
  identity,
}: Pick<GenericControl, 'client' | 'identity'>): Promise<Observations['leader']> {
  try {
    const { spec = {} } = await client.get<Lease>(resources.leases, leaderLease)
    const leads = spec.holderIdentity === identity
    return { identity, token: leads ? (spec.leaseTransitions ?? 0) + 1 : 0 }
  } catch (error) {
    if (isStatus(error, 'NotFound')) return { identity, token: 0 }
    throw error
  }
}
