import { join } from 'node:path'
import { after, before } from 'node:test'
import { type RollcallProcess, startRollcall, temporaryFolder } from './rollcall-process.ts'

export interface RunningUp {
  /** Its data directory. */
  readonly path: string
  /** File of the administrator's kubeconfig. */
  readonly admin: string
  /** Ends it, and gives its exit code, or the signal that ended it. */
  stop(): Promise<number | NodeJS.Signals | undefined>
  /** Runs it on the same directory again. Resolves when it is ready. */
  startAgain(): Promise<void>
}

/** A `rollcall up` of three nodes that runs from before the first test of this file until after its last. */
export function upDuringTests(): RunningUp {
  const folder = temporaryFolder()
  let up: RollcallProcess | undefined
  const start = async () => {
    up = startRollcall(['up', '--nodes', '3', '--dir', folder.path, '--port', '0'])
    await up.ready
  }
  const stop = async () => up?.stop()
  before(start)
  after(async () => {
    await stop()
    folder.remove()
  })
  return { path: folder.path, admin: join(folder.path, 'admin.kubeconfig'), stop, startAgain: start }
}
