/** What was ordered last, what is in force, what was tried in vain: kept on the disk, so that a restart needs nobody. */
import { posix } from 'node:path'
import type { Disk } from '../../ports.ts'
import type { KeyId } from '../../trust/control-plane-orders.ts'
import type { ControlPlaneRole } from '../../trust/control-plane-report.ts'
import type { Goal, RoleGoal } from './goal.ts'
import { replaceFile } from './replace-file.ts'
import { readText } from './step-journal.ts'

export interface Standing {
  ordered: Goal
  /** Brought about, and seen to work. */
  inForce: Goal
  /** By role: these orders were tried, and undone. They are not tried again; later ones are. */
  undone: Readonly<Partial<Record<ControlPlaneRole, Pick<RoleGoal, 'token' | 'sequence'> & { why: string }>>>
  /** DER in base64: certificates of CAs by other CAs. */
  crosses: Readonly<Record<KeyId, string>>
  /** Since when the API server presents what it does, in milliseconds since the epoch. */
  presentsSince: number
  /**
   * When orders were accepted last: certificates that were old then are made anew. Not when they become so: all nodes of a
   * control plane would start their components at one moment.
   */
  orderedAt: number
}

const nothing: Standing = {
  ordered: {},
  inForce: {},
  undone: {},
  crosses: {},
  presentsSince: 0,
  orderedAt: 0,
}

export class StandingOrders {
  readonly #disk: Disk
  readonly #path: string
  #standing: Standing = nothing

  constructor(disk: Disk, directory: string) {
    this.#disk = disk
    this.#path = posix.join(directory, 'orders.json')
  }

  get standing(): Standing {
    return this.#standing
  }

  async load(): Promise<void> {
    const text = await readText(this.#disk, this.#path)
    if (text !== undefined) this.#standing = { ...nothing, ...(JSON.parse(text) as Standing) }
  }

  async change(change: Partial<Standing>): Promise<void> {
    const next = { ...this.#standing, ...change }
    await replaceFile(this.#disk, this.#path, JSON.stringify(next), 0o600)
    this.#standing = next
  }
}
