/** What the adapter of a role has read for one turn: objects of the cluster, and the places of trust. */
import type { TrustSink } from '../rollover/trust-sinks.ts'
import type { GenericControl } from './generic-control.ts'
import { RememberedLists } from './remembered-lists.ts'
import type { ManagedRole } from './rollover-file.ts'
import { readOnce, type SinkDoors, sinkOf, standardSinks } from './sinks.ts'
import { emptySnapshot, type Snapshot, takeSnapshot } from './snapshot.ts'

export class GenericView {
  readonly #control: GenericControl
  readonly #role: ManagedRole
  readonly #commands: Pick<SinkDoors, 'run' | 'bundleFile'>
  readonly #lists: RememberedLists
  #snapshot: Snapshot = emptySnapshot
  #sinks: readonly TrustSink[] = []

  constructor(control: GenericControl, role: ManagedRole, commands: Pick<SinkDoors, 'run' | 'bundleFile'>) {
    this.#control = control
    this.#role = role
    this.#commands = commands
    this.#lists = new RememberedLists(control.clock)
  }

  get sinks(): readonly TrustSink[] {
    return this.#sinks
  }

  /** As read last, always. */
  readonly reader: Snapshot = {
    get: (...args) => this.#snapshot.get(...args),
    list: (...args) => this.#snapshot.list(...args),
    generation: () => 0,
  }

  /** Reads what there is now; what is long and changes slowly was read after `since` (milliseconds since the epoch). */
  async look(since: number): Promise<void> {
    const { client, trust, file, disk } = this.#control
    const servers = this.#role === 'apiserver-serving'
    const remembered = { lists: this.#lists, since }
    const [snapshot] = await Promise.all([
      takeSnapshot(client, { secrets: servers && file.tokenSecrets, pods: servers, remembered }),
      trust.follow(),
    ])
    this.#snapshot = snapshot
    const doors = {
      ...this.#commands,
      client,
      disk,
      now: () => snapshot,
      publishRootCa: file.publishRootCa,
    }
    const all = [...standardSinks(doors), ...file.sinks.map(entry => sinkOf(entry, doors))]
    this.#sinks = all.filter(({ role }) => role === this.#role).map(readOnce)
  }
}
