import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { RollcallError, systemCode } from '../../errors.ts'
import type { Clock, Disk, Log } from '../../ports.ts'
import { Expiry } from './expiry.ts'
import { defaultHistoryLimits, type HistoryLimits } from './history.ts'
import { type Plan, Revisions } from './revisions.ts'
import type { Batch, FromWorker, Row, ToWorker, WorkerOptions } from './sqlite-protocol.ts'
import type { Store, Write, WriteResult } from './store.ts'

export interface SqliteStoreOptions {
  /** The database file; created with mode 0600 when it is not there (it holds Secrets). */
  path: string
  clock: Clock
  disk: Disk
  log: Log
  history?: HistoryLimits
  /** Bytes that the database may take; absent: what the disk gives. */
  maximumBytes?: number
}

interface Waiting {
  write: Write
  resolve(result: WriteResult): void
  reject(error: Error): void
}

/**
 * A Store on SQLite in a worker thread. Writes that arrive while the disk works on a batch form the next one (group
 * commit); each becomes visible, and its promise resolves, only when it is durable. A refused batch changes nothing.
 * Throws RollcallError STORAGE_FAILED when the file cannot be used, DIRECTORY_IN_USE when another process has it.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  await createFile(options.disk, options.path)
  const worker = startWorker(options)
  const { rows, revision } = await load(worker, options.path)
  const revisions = new Revisions(options.history ?? defaultHistoryLimits, { revision, entries: rows })
  let queue: Waiting[] = []
  let inFlight: { plan: Plan; waiting: Waiting[] } | undefined
  let ended: Error | undefined
  let idle = () => {}

  const post = (message: ToWorker) => worker.postMessage(message)

  function startBatch(): void {
    if (inFlight) return
    if (queue.length === 0) {
      idle()
      return
    }
    const waiting = queue
    queue = []
    const plan = revisions.plan(waiting.map(one => one.write))
    inFlight = { plan, waiting }
    if (plan.changes.length === 0) finish()
    else post({ type: 'commit', batch: batchOf(plan) })
  }

  function finish(failure?: Error): void {
    const batch = inFlight
    if (!batch) return
    inFlight = undefined
    if (!failure) {
      for (const change of batch.plan.changes) expiry.written(change.event.key, change.expiresAt)
      revisions.apply(batch.plan)
    }
    batch.waiting.forEach((one, index) => {
      const result = batch.plan.results[index]
      if (failure) one.reject(failure)
      else if (result) one.resolve(result)
    })
    startBatch()
  }

  function fail(error: Error): void {
    ended = error
    for (const one of queue.splice(0)) one.reject(error)
    finish(error)
  }

  worker.on('message', (message: FromWorker) => {
    if (message.type === 'committed') finish()
    else if (message.type === 'refused') finish(failed(options.path, message.message))
  })
  worker.on('error', error => fail(failed(options.path, error.message)))
  worker.on('exit', () => fail(failed(options.path, 'the store is closed')))

  const write: Store['write'] = write =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended)
      queue.push({ write, resolve, reject })
      if (!inFlight && queue.length === 1) queueMicrotask(startBatch)
    })

  const expiry = new Expiry(options.clock, key => {
    const current = revisions.get(key)
    if (!current) return
    write({ key, expect: current.modRevision, value: null }).catch(error =>
      options.log.warn('an expired object could not be removed', { key, error: String(error) }),
    )
  })
  for (const row of rows) if (row.expiresAt !== null) expiry.written(row.key, row.expiresAt)

  return {
    get revision() {
      return revisions.revision
    },
    get: key => revisions.get(key),
    list: (prefix, listOptions) => revisions.list(prefix, listOptions),
    watch: (prefix, after, listener) => revisions.watch(prefix, after, listener),
    compact: upTo => revisions.compact(upTo),
    write,
    async close() {
      if (ended) return
      expiry.stop()
      ended = failed(options.path, 'the store is closed')
      if (inFlight || queue.length > 0) await new Promise<void>(resolve => (idle = resolve))
      const exit = once(worker, 'exit')
      post({ type: 'close' })
      await exit
    },
  }
}

const failed = (path: string, why: string) =>
  new RollcallError('STORAGE_FAILED', `${path}: ${why}; check free space and that the disk can be written`, {
    path,
  })

/** The file must be 0600 from its first byte; SQLite gives its side files the same mode. */
async function createFile(disk: Disk, path: string): Promise<void> {
  try {
    await disk.write(path, '', { mode: 0o600, exclusive: true })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST')
      throw failed(path, error instanceof Error ? error.message : String(error))
  }
}

function startWorker({ path, maximumBytes }: SqliteStoreOptions): Worker {
  // The repository runs .ts by type stripping, the package its .js.
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
  const workerData: WorkerOptions = { path, ...(maximumBytes && { maximumBytes }) }
  return new Worker(new URL(`./sqlite-worker${extension}`, import.meta.url), {
    workerData,
    // node:sqlite is a release candidate in Node 24 and says so at every start.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
}

function load(worker: Worker, path: string): Promise<{ rows: Row[]; revision: number }> {
  return new Promise((resolve, reject) => {
    const rows: Row[] = []
    const done = () => {
      worker.off('message', onMessage)
      worker.off('error', onError)
    }
    const onError = (error: Error) => {
      done()
      reject(failed(path, error.message))
    }
    const onMessage = (message: FromWorker) => {
      if (message.type === 'rows') {
        for (const row of message.rows) rows.push(row)
      } else if (message.type === 'open') {
        done()
        resolve({ rows, revision: message.revision })
      } else if (message.type === 'unusable') {
        done()
        reject(
          message.locked
            ? new RollcallError('DIRECTORY_IN_USE', `${path} is open in another process; stop it first`, {
                path,
              })
            : failed(path, message.message),
        )
      }
    }
    worker.on('message', onMessage)
    worker.on('error', onError)
  })
}

function batchOf({ changes }: Plan): Batch {
  // Only the last change of a key counts: a batch is one transaction.
  const last = new Map(changes.map(change => [change.event.key, change]))
  const batch: Batch = { puts: [], deletes: [], revision: changes.at(-1)?.event.revision ?? 0 }
  for (const { event, expiresAt } of last.values()) {
    if (event.current) batch.puts.push({ ...event.current, expiresAt: expiresAt ?? null })
    else batch.deletes.push(event.key)
  }
  return batch
}
