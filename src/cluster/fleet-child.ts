import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { NodeReport } from '../fleet/fleet.ts'
import type { Clock, Log } from '../ports.ts'

export interface FleetChildOptions {
  /** Arguments of the hidden command `fleet-process`. */
  args: readonly string[]
  clock: Clock
  log: Log
  onReport(report: NodeReport): void
  /** The child with this process id runs from now on. */
  onStart(processId: number): void
}

export interface FleetChild {
  /** Closes the child's pipe and waits for its end; after 5 seconds it is killed. */
  stop(): Promise<void>
}

/** Milliseconds between the end of a child and the start of the next: at once, but no busy loop when it cannot run. */
const RESTART_AFTER = 250

/** Runs the fleet in a child process, and another one whenever it ends. */
export function startFleetChild(options: FleetChildOptions): FleetChild {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const main = fileURLToPath(new URL(`../cli/main${extension}`, import.meta.url))
  let stopping = false
  let child = start()
  let restart = { cancel: () => {} }

  function start(): ChildProcess {
    const started = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', main, 'fleet-process', ...options.args],
      {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      },
    )
    started.on('message', message => options.onReport(message as NodeReport))
    started.on('error', error => options.log.error('the fleet cannot be started', { error: String(error) }))
    started.on('exit', (code, signal) => {
      if (stopping) return
      options.log.warn('the fleet process ended and is started again', { code, signal })
      restart = options.clock.after(RESTART_AFTER, () => {
        child = start()
      })
    })
    if (started.pid !== undefined) options.onStart(started.pid)
    return started
  }

  return {
    async stop() {
      stopping = true
      restart.cancel()
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise(resolve => child.once('exit', resolve))
      if (child.connected) child.disconnect()
      const killer = options.clock.after(5000, () => child.kill('SIGKILL'))
      await ended
      killer.cancel()
    },
  }
}
