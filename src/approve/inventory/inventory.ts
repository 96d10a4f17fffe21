/** The inventory as evidence: the last good content, or why there is none. */
import { canonicalDns } from '../canonical-name.ts'
import type { Evidence, EvidenceProvider } from '../evidence/provider.ts'
import { contains } from '../ip-range.ts'
import type { RequestedSan } from '../requested-sans.ts'
import type { MachineRecord } from './machine-record.ts'
import type { InventoryEntries, InventoryEntry } from './parse-inventory.ts'

export class Inventory implements EvidenceProvider {
  readonly level = 'Inventory'
  /** As verdicts show it, e.g. `inventory ConfigMap kube-system/inventory`. */
  readonly name: string
  #entries: InventoryEntries | undefined
  #holders = new Map<string, string[]>()
  #error = 'was not read yet'

  constructor(name: string) {
    this.name = name
  }

  /** Takes new content in. */
  read(entries: InventoryEntries): void {
    this.#entries = entries
    this.#holders = new Map()
    for (const [nodeName, list] of entries)
      for (const canonical of new Set(list.flatMap(({ names, addresses }) => [...names, ...addresses])))
        this.#holders.set(canonical, [...(this.#holders.get(canonical) ?? []), nodeName])
  }

  /** It cannot be read: from now on nothing is known, rather than what was true once. */
  lose(error: string): void {
    this.#entries = undefined
    this.#holders = new Map()
    this.#error = error
  }

  evidence(nodeName: string, sans: readonly RequestedSan[]): Evidence {
    if (!this.#entries) return { error: this.#error }
    const [entry, ...more] = this.#entries.get(nodeName) ?? []
    if (more.length > 0) return { conflict: `has ${more.length + 1} entries for node "${nodeName}"` }
    const proven = new Map<string, string>()
    for (const san of sans) if (entry && lists(entry, san)) proven.set(san.canonical, this.name)
    return { proven }
  }

  holders(canonical: string): readonly string[] {
    return this.#holders.get(canonicalDns(canonical)) ?? []
  }

  attributes(nodeName: string): Readonly<Record<string, string>> {
    return this.#only(nodeName)?.attributes ?? {}
  }

  machine(nodeName: string): MachineRecord | undefined {
    return this.#only(nodeName)?.machine
  }

  mayCarry(nodeName: string, address: Uint8Array): boolean {
    return this.#only(nodeName)?.floating.some(range => contains(range, address)) ?? false
  }

  /** Of two that say different things none counts. */
  #only(nodeName: string): InventoryEntry | undefined {
    const [entry, ...more] = this.#entries?.get(nodeName) ?? []
    return more.length === 0 ? entry : undefined
  }
}

function lists({ names, addresses }: InventoryEntry, { kind, canonical }: RequestedSan): boolean {
  return (kind === 'IP' ? addresses : names).has(canonical)
}
