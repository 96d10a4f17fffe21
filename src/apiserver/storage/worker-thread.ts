import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { RollcallError } from '../../errors.ts'
import type { FromWorker, ToWorker, WorkerOptions } from './sqlite-protocol.ts'

export const storageFailed = (path: string, why: string) =>
  new RollcallError('STORAGE_FAILED', `${path}: ${why}; check free space and that the disk can be written`, {
    path,
  })

const damaged = (path: string, why: string) =>
  new RollcallError(
    'STORAGE_FAILED',
    `${path}: ${why}; nothing was changed, put a backup in its place with \`rollcall server restore\``,
    { path },
  )

/** The thread that owns the database. */
export interface WorkerThread {
  /** Of the last write. */
  revision: number
  /** Bytes that the log had after its last whole transaction. */
  torn: number
  post(message: ToWorker): void
  /** `ended`: the thread is gone, wanted or not. */
  listen(on: { committed(): void; refused(error: Error): void; ended(error: Error): void }): void
  close(): Promise<void>
}

/** Resolves when the database is open. Throws RollcallError STORAGE_FAILED or DIRECTORY_IN_USE. */
export async function startWorkerThread(options: WorkerOptions): Promise<WorkerThread> {
  const { path } = options
  // The repository runs .ts by type stripping, the package its .js.
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
  const worker = new Worker(new URL(`./sqlite-worker${extension}`, import.meta.url), {
    workerData: options,
    // node:sqlite is a release candidate in Node 24 and says so at every start.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const loaded = await load(worker, path)
  return {
    ...loaded,
    post: message => worker.postMessage(message),
    listen({ committed, refused, ended }) {
      worker.on('message', (message: FromWorker) => {
        if (message.type === 'committed') committed()
        else if (message.type === 'refused') refused(storageFailed(path, message.message))
      })
      worker.on('error', error => ended(storageFailed(path, error.message)))
      worker.on('exit', () => ended(storageFailed(path, 'the store is closed')))
    },
    async close() {
      // It died before; there is nothing left to wait for.
      if (worker.threadId === -1) return
      const exit = once(worker, 'exit')
      worker.postMessage({ type: 'close' } satisfies ToWorker)
      await exit
    },
  }
}

function load(worker: Worker, path: string): Promise<Pick<WorkerThread, 'revision' | 'torn'>> {
  return new Promise((resolve, reject) => {
    const settle = (run: () => void) => {
      worker.off('message', onMessage)
      worker.off('error', onError)
      run()
    }
    const onError = (error: Error) => settle(() => reject(storageFailed(path, error.message)))
    const onMessage = (message: FromWorker) => {
      if (message.type === 'open') settle(() => resolve({ revision: message.revision, torn: message.torn }))
      else if (message.type === 'unusable') settle(() => reject(unusable(path, message)))
    }
    worker.on('message', onMessage)
    worker.on('error', onError)
  })
}

function unusable(path: string, { locked, message }: Extract<FromWorker, { type: 'unusable' }>): Error {
  if (locked)
    return new RollcallError('DIRECTORY_IN_USE', `${path} is open in another process; stop it first`, {
      path,
    })
  return unreadable(path, message)
}

/** What to do about what SQLite says of the file. */
export function unreadable(path: string, message: string): RollcallError {
  return /malformed|damaged|not a database/.test(message)
    ? damaged(path, message)
    : storageFailed(path, message)
}
