/**
 * Client certificates that somebody uses and no ledger knows: signed by hand with the CA's key, or before there was a
 * ledger. They are remembered across restarts, since who holds one may be silent until the CA is gone.
 */
import { join } from 'node:path'
import type { Clock, Disk } from '../../ports.ts'
import type { Leaf } from '../../sign/leaf.ts'
import { readIfThere, replaceFile } from '../pki-files.ts'
import type { PresentedLeaf, SeenConsumers } from './seen-consumers.ts'

export interface ForeignLeavesOptions {
  /** `D/ca`. */
  directory: string
  seen: SeenConsumers
  /** Serial numbers of what the control plane has made for itself, which it makes anew by itself. */
  own: ReadonlySet<string>
  disk: Disk
  clock: Clock
}

export class ForeignLeaves {
  readonly #options: ForeignLeavesOptions
  readonly #path: string
  #written = '[]'

  constructor(options: ForeignLeavesOptions) {
    this.#options = options
    this.#path = join(options.directory, 'foreign-leaves')
  }

  /** Those from before a restart. */
  async load(): Promise<void> {
    const { disk, seen, clock } = this.#options
    const text = await readIfThere(disk, this.#path)
    for (const leaf of leavesIn(text)) seen.show(leaf, clock.now())
    this.#written = text ?? '[]'
  }

  /** Those that live, beside what the ledger knows. Remembers new ones before it resolves. */
  async beside(ledger: readonly Leaf[]): Promise<readonly PresentedLeaf[]> {
    const { seen, own, disk, clock } = this.#options
    const known = new Set(ledger.map(({ serialNumber }) => serialNumber))
    const now = clock.now()
    const foreign = [...seen.presented.values()].filter(
      ({ serialNumber, notAfter }) => notAfter > now && !own.has(serialNumber) && !known.has(serialNumber),
    )
    const text = JSON.stringify(foreign)
    if (text !== this.#written) await replaceFile(disk, this.#path, text, 0o600)
    this.#written = text
    return foreign
  }
}

function leavesIn(text: string | undefined): PresentedLeaf[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(found) ? found.filter(isLeaf) : []
  } catch {
    return [] // spoiled by hand: who comes again is seen again
  }
}

function isLeaf(value: Partial<PresentedLeaf> | null): value is PresentedLeaf {
  const { serialNumber, authority, user, notAfter } = value ?? {}
  const texts = typeof serialNumber === 'string' && typeof user === 'string'
  return texts && Number.isSafeInteger(authority) && Number.isSafeInteger(notAfter)
}
