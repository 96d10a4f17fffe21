import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/host/clock.ts'
import { systemTpm } from '../../src/host/tpm.ts'
import { createTpm, type Tpm } from '../../src/keys/tpm/tpm.ts'
import { eventually } from './eventually.ts'
import { temporaryFolder } from './rollcall-process.ts'

export function whyNoSwtpm(): string | false {
  return spawnSync('swtpm', ['--version']).status === 0 ? false : 'swtpm is not installed'
}

/** A machine's TPM: a new one, in a process of its own. */
export interface SoftwareTpm {
  /** As `systemTpm` takes it. */
  place: string
  /** Its unix socket, where it has no port; `.ctrl` beside it is its control channel. */
  socket: string
  open(): Promise<Tpm>
  /** Takes it out of the machine; what it holds stays. */
  unplug(): Promise<void>
  plug(): Promise<void>
  remove(): Promise<void>
}

const leftovers = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of leftovers) child.kill('SIGKILL')
})

/** `port`: its data port on 127.0.0.1; absent: a unix socket. */
export async function startSwtpm(port?: number): Promise<SoftwareTpm> {
  const folder = temporaryFolder()
  const socket = join(folder.path, 'tpm.sock')
  const state = join(folder.path, 'state')
  mkdirSync(state)
  let running: { child: ChildProcess; ended: Promise<void> } | undefined

  async function plug(): Promise<void> {
    const child = spawn(
      'swtpm',
      [
        ...['socket', '--tpm2', '--tpmstate', `dir=${state}`, '--flags', 'not-need-init,startup-clear'],
        ...['--ctrl', `type=unixio,path=${socket}.ctrl`],
        ...['--server', port === undefined ? `type=unixio,path=${socket}` : `type=tcp,port=${port}`],
      ],
      { stdio: 'ignore' },
    )
    leftovers.add(child)
    const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
    void ended.then(() => leftovers.delete(child))
    running = { child, ended }
    await eventually('the TPM listens', () => existsSync(port === undefined ? socket : `${socket}.ctrl`))
  }
  async function unplug(): Promise<void> {
    running?.child.kill('SIGTERM')
    await running?.ended
    running = undefined
  }

  const place = port === undefined ? `unix:${socket}` : `tcp:127.0.0.1:${port}`
  await plug()
  return {
    place,
    socket,
    open: async () => createTpm(await systemTpm(place), systemClock),
    plug,
    unplug,
    async remove() {
      await unplug()
      folder.remove()
    },
  }
}
