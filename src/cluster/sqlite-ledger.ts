import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { RollcallError } from '../errors.ts'
import type { Clock, Log } from '../ports.ts'
import { decodeLeaf, encodeLeaf, forgottenBefore, type Leaf } from '../sign/leaf.ts'
import type { LastingLedger, LedgerEntry } from '../sign/ledger.ts'
import { type ServedLedger, servedLine } from '../sign/served-ledger.ts'
import type { FromLedger, LedgerRow, ToLedger } from './ledger-thread.ts'

export interface SqliteLedger extends LastingLedger {
  /** The lines, as the served view has them, of the newest leaf of each holder and signer; lapsed ones of the last day too. */
  newest(): ServedLedger
  /** After what was being recorded; nothing can be recorded any more. */
  close(): Promise<void>
}

export interface SqliteLedgerOptions {
  /** Created with mode 0600 when it is not there. The data directory's lock keeps other processes away. */
  path: string
  clock: Clock
  log: Log
}

interface Waiting {
  row: LedgerRow
  resolve(): void
  reject(error: Error): void
}

/**
 * The ledger of leaves of the embedded control plane, in a file of its own. When `record` resolves the leaf is on the disk
 * and outlives a kill; leaves that come while the disk works on others share the next transaction. Rejects, and `record`
 * rejects with, RollcallError STORAGE_FAILED.
 */
export async function openSqliteLedger({ path, clock, log }: SqliteLedgerOptions): Promise<SqliteLedger> {
  const worker = await startThread(path)
  let waiting: Waiting[] = []
  let underWay: Waiting[] = []
  let ended: Error | undefined
  let onIdle = () => {}

  function flush(): void {
    if (underWay.length > 0) return
    if (waiting.length === 0) {
      onIdle()
      return
    }
    underWay = waiting
    waiting = []
    const rows = underWay.map(({ row }) => row)
    post(worker, { type: 'record', rows, forgotten: forgottenBefore(clock.now()) })
  }

  function done(settle: (one: Waiting) => void): void {
    const group = underWay
    underWay = []
    group.forEach(settle)
    flush()
  }

  function end(error: Error): void {
    ended ??= error
    for (const { reject } of [...underWay.splice(0), ...waiting.splice(0)]) reject(ended)
    onIdle()
  }

  worker.on('message', (message: FromLedger) => {
    if (message.type === 'recorded') done(({ resolve }) => resolve())
    else if (message.type === 'refused') done(({ reject }) => reject(storageFailed(path, message.message)))
  })
  worker.on('error', error => end(storageFailed(path, error)))
  worker.on('exit', () => end(storageFailed(path, 'the ledger is closed')))

  async function* read(): AsyncGenerator<Leaf> {
    const database = new DatabaseSync(path, { readOnly: true })
    try {
      const living = database.prepare('SELECT serial, leaf FROM leaves WHERE not_after > ?')
      for (const { serial, leaf: line } of living.iterate(clock.now())) {
        const leaf = decodeLeaf(String(serial), String(line))
        if (leaf) yield leaf
        else log.error('a line of the ledger cannot be read', { path, serial })
      }
    } finally {
      database.close()
    }
  }

  function newest(): ServedLedger {
    const database = new DatabaseSync(path, { readOnly: true })
    try {
      // With max() SQLite takes the other columns from the row that has it; times of one form sort as text.
      const rows = database
        .prepare(
          `SELECT ca, serial, leaf, max(json_extract(leaf, '$.from')) FROM leaves
           GROUP BY json_extract(leaf, '$.holder'), json_extract(leaf, '$.signer')`,
        )
        .all()
      return {
        data: Object.fromEntries(
          rows.map(({ ca, serial, leaf }) => servedLine(String(serial), String(ca), String(leaf))),
        ),
      }
    } catch (error) {
      throw storageFailed(path, error)
    } finally {
      database.close()
    }
  }

  return {
    newest,
    record: entry =>
      new Promise((resolve, reject) => {
        // Those of the same turn go together.
        if (ended) reject(ended)
        else if (waiting.push({ row: rowOf(entry), resolve, reject }) === 1) queueMicrotask(flush)
      }),
    issued: { [Symbol.asyncIterator]: read },
    async close() {
      if (ended) return
      ended = storageFailed(path, 'the ledger is closed')
      const idle = new Promise<void>(resolve => {
        onIdle = resolve
      })
      flush()
      await idle
      const exit = once(worker, 'exit')
      post(worker, { type: 'close' })
      await exit
    },
  }
}

const post = (worker: Worker, message: ToLedger) => worker.postMessage(message)

const rowOf = (entry: LedgerEntry): LedgerRow => ({
  ca: entry.issuerFingerprint,
  serial: entry.serialNumber,
  notAfter: entry.notAfter,
  leaf: encodeLeaf(entry),
})

async function startThread(path: string): Promise<Worker> {
  // The repository runs .ts by type stripping, the package its .js.
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
  const worker = new Worker(new URL(`./ledger-thread${extension}`, import.meta.url), {
    workerData: path,
    // node:sqlite is a release candidate in Node 24 and says so at every start.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const [first] = (await once(worker, 'message')) as [FromLedger]
  if (first.type === 'unusable') throw storageFailed(path, first.message)
  return worker
}

function storageFailed(path: string, error: unknown): RollcallError {
  const why = error instanceof Error ? error.message : String(error)
  const advice = /malformed|damaged|not a database/.test(why)
    ? 'move it away to go on without it: certificates are then known only as long as their requests, and what node holds which address is forgotten'
    : 'check free space and that the disk can be written'
  return new RollcallError('STORAGE_FAILED', `${path}: ${why}; ${advice}`, { path }, { cause: error })
}
