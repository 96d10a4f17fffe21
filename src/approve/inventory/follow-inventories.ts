/** The inventories that policies name, followed while one does. */
import type { EvidenceProvider } from '../evidence/provider.ts'
import type { ApprovalPolicy, InventoryLocation } from '../policy.ts'
import { type FollowedInventory, type FollowInventory, followInventory } from './follow-inventory.ts'

export interface FollowedInventories {
  /** Follows those that these policies name, and no others. */
  use(policies: readonly ApprovalPolicy[]): void
  /** That of the policy; undefined when it names none. */
  of(policy: ApprovalPolicy | undefined): readonly EvidenceProvider[] | undefined
  /** Resolves when those in use now were read once, or could not be. */
  settled(): Promise<void>
  stop(): Promise<void>
}

export function followInventories(shared: Omit<FollowInventory, 'location'>): FollowedInventories {
  const followed = new Map<string, FollowedInventory>()
  /** Of those that are not used any more. */
  const ending = new Set<Promise<void>>()
  let stopped = false

  function end(key: string, inventory: FollowedInventory): void {
    followed.delete(key)
    const ended = inventory.stop().finally(() => ending.delete(ended))
    ending.add(ended)
  }

  return {
    use(policies) {
      if (stopped) return
      const wanted = new Map(
        policies.flatMap(({ inventory }) => (inventory ? [[keyOf(inventory), inventory]] : [])),
      )
      for (const [key, inventory] of followed) if (!wanted.has(key)) end(key, inventory)
      for (const [key, location] of wanted)
        if (!followed.has(key)) followed.set(key, followInventory({ ...shared, location }))
    },
    of(policy) {
      const found = policy?.inventory && followed.get(keyOf(policy.inventory))
      return found && [found.inventory]
    },
    settled: () => Promise.all([...followed.values()].map(({ settled }) => settled)).then(() => {}),
    async stop() {
      stopped = true
      for (const [key, inventory] of followed) end(key, inventory)
      await Promise.all(ending)
    },
  }
}

const keyOf = ({ configMap, secret, file }: InventoryLocation) =>
  configMap !== undefined
    ? `ConfigMap ${configMap}`
    : secret !== undefined
      ? `Secret ${secret}`
      : `file ${file}`
