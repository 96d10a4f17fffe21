/** A machine that asks for the first time waits for a person, unless the inventory already says which key it has. */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { type NodeIdentityObject, nodeIdentities } from '../kube/rollcall/node-identity.ts'
import { startWorkQueue } from '../kube/work-queue.ts'
import type { Clock, Log, Random } from '../ports.ts'
import type { EvidenceProvider } from './evidence/provider.ts'
import { followWhereReadable } from './reserved/follow-where-readable.ts'

export interface KnownMachinesOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  watchTimeoutSeconds?: number | undefined
  /** Of the policy in force, as of now. */
  evidence(): readonly EvidenceProvider[]
}

export interface KnownMachines {
  /** The inventory says something else than before. */
  inventoryChanged(): void
  stop(): Promise<void>
}

/** The attribute of an inventory's entry that holds the SHA-256 of the machine's key. */
export const machineKeyAttribute = 'machine-key'

export function startKnownMachines(options: KnownMachinesOptions): KnownMachines {
  const { client, clock, random, log, watchTimeoutSeconds } = options
  const pending = new Map<string, NodeIdentityObject>()
  const queue = startWorkQueue({ name: 'known-machines', workers: 1, clock, log, process: approveIfKnown })
  const following = followWhereReadable<NodeIdentityObject>({
    client,
    clock,
    random,
    log,
    resource: nodeIdentities,
    ...(watchTimeoutSeconds && { watchSeconds: watchTimeoutSeconds }),
    onChange(type, identity) {
      const { name } = identity.metadata
      if (type === 'DELETED' || identity.spec.state !== 'Pending') pending.delete(name)
      else {
        pending.set(name, identity)
        queue.add(name)
      }
    },
  })

  async function approveIfKnown(name: string, signal: AbortSignal): Promise<undefined> {
    const identity = pending.get(name)
    if (!identity || !isKnown(identity, options.evidence())) return
    const spec = { ...identity.spec, state: 'Approved' as const }
    try {
      await client.update(nodeIdentities, { ...identity, spec }, { signal })
      log.info('the inventory knows the key of a machine, so it is let in', { node: name })
    } catch (error) {
      // Somebody wrote meanwhile: the change brings it back.
      if (!isStatus(error, 'Conflict') && !isStatus(error, 'NotFound')) throw error
    }
  }

  return {
    inventoryChanged() {
      for (const name of pending.keys()) queue.add(name)
    },
    async stop() {
      await Promise.all([queue.stop(), following.stop()])
    },
  }
}

/** Whether an inventory, and no weaker source, has this very key for the node. */
function isKnown({ metadata, spec }: NodeIdentityObject, evidence: readonly EvidenceProvider[]): boolean {
  const keys = evidence
    .filter(({ level }) => level === 'Inventory')
    .flatMap(source => source.attributes?.(metadata.name)[machineKeyAttribute] ?? [])
  // Two that disagree are for a person.
  return keys.length > 0 && keys.every(key => key.toLowerCase().replace(/^sha256:/, '') === spec.key.sha256)
}
