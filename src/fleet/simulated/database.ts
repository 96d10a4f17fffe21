import { Expiry } from '../../apiserver/storage/expiry.ts'
import { defaultHistoryLimits } from '../../apiserver/storage/history.ts'
import { type Plan, Revisions } from '../../apiserver/storage/revisions.ts'
import type { Store, Stored, Write, WriteResult } from '../../apiserver/storage/store.ts'
import { RollcallError } from '../../errors.ts'
import type { MachineProcess } from './machine.ts'

/** Milliseconds that one durable write (fdatasync) of a group takes. */
const COMMIT = { least: 0.2, most: 8 }

/** One key as it is on the disk. The Stored is shared by all who open the database: it never changes. */
export interface Row {
  stored: Stored
  expiresAt: number | undefined
}

interface Waiting {
  write: Write
  resolve(result: WriteResult): void
  reject(error: Error): void
}

/**
 * The control plane's database file: what is committed outlives the process. `open` gives a Store with the promises of
 * storage/sqlite-store.ts: a write is visible and acknowledged only when it is durable; writes that come meanwhile form
 * the next group; one that was under way in a crash is there afterwards, whole, or not at all.
 */
export class Database {
  readonly rows: Map<string, Row>
  revision: number
  /** Every commit is refused, as by a full disk. */
  full = false

  /** Empty, or a copy of another one. */
  constructor(original?: Pick<Database, 'rows' | 'revision'>) {
    this.rows = new Map(original?.rows)
    this.revision = original?.revision ?? 1
  }

  open(process: MachineProcess): Store {
    const revisions = new Revisions(defaultHistoryLimits, {
      revision: this.revision,
      entries: [...this.rows.values()].map(({ stored }) => stored),
    })
    const random = process.random.stream('database')
    let queue: Waiting[] = []
    let inFlight: Plan | undefined

    const startGroup = () => {
      if (inFlight || queue.length === 0) return
      const group = queue
      queue = []
      const plan = revisions.plan(group.map(one => one.write))
      inFlight = plan
      process.clock.after(random.between(COMMIT.least, COMMIT.most), () => {
        inFlight = undefined
        if (this.full && plan.changes.length > 0) {
          for (const one of group) one.reject(refused(one.write.key))
        } else {
          this.#commit(plan)
          for (const change of plan.changes) expiry.written(change.event.key, change.expiresAt)
          revisions.apply(plan)
          for (const [index, one] of group.entries()) one.resolve(plan.results[index] as WriteResult)
        }
        startGroup()
      })
    }
    process.onEnd(() => {
      if (inFlight && !this.full && random.chance(0.5)) this.#commit(inFlight)
    })
    const write = (write: Write) =>
      new Promise<WriteResult>((resolve, reject) => {
        queue.push({ write, resolve, reject })
        startGroup()
      })
    const expiry = new Expiry(process.clock, key => {
      const current = revisions.get(key)
      if (!current) return
      write({ key, expect: current.modRevision, value: null }).catch(error => process.log.warn(String(error)))
    })
    for (const [key, { expiresAt }] of this.rows) expiry.written(key, expiresAt)

    return {
      get revision() {
        return revisions.revision
      },
      get: key => revisions.get(key),
      list: (prefix, options) => revisions.list(prefix, options),
      watch: (prefix, after, listener) => revisions.watch(prefix, after, listener),
      compact: upTo => revisions.compact(upTo),
      write,
      async close() {
        expiry.stop()
      },
    }
  }

  #commit(plan: Plan): void {
    for (const { event, expiresAt } of plan.changes) {
      if (event.current) this.rows.set(event.key, { stored: event.current, expiresAt })
      else this.rows.delete(event.key)
      this.revision = event.revision
    }
  }
}

function refused(key: string): RollcallError {
  return new RollcallError('STORAGE_FAILED', `${key} was not written: the disk is full`)
}
