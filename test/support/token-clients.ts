import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** One that asks the API over and over, with a token, by the CAs of a file. */
export interface TokenClient {
  name: string
  server: string
  /** Its own, out of 127.0.0.0/8. */
  address: string
  tokenFile: string
  caFile: string
  /** Reads the CAs again when the file has changed; else they are those of the beginning for ever. */
  follows: boolean
}

export interface Tally {
  ok: number
  failed: number
  /** Why, the first one. */
  why?: string
}

export type Program = 'node' | 'python' | 'curl'

const script = (name: string) => fileURLToPath(new URL(`token-clients/${name}`, import.meta.url))

/** Clients of three kinds of programs, in processes of their own, each counted by its name. */
export class TokenClients {
  readonly tallies = new Map<string, Tally>()
  readonly #crowds: Readonly<Record<'node' | 'python', ChildProcess>>
  readonly #curls = new Map<string, ChildProcess>()

  constructor() {
    this.#crowds = {
      node: this.#watched(spawn(process.execPath, [script('node-clients.ts')])),
      python: this.#watched(spawn('python3', ['-u', script('python-clients.py')])),
    }
  }

  start(program: Program, client: TokenClient): void {
    this.tallies.set(client.name, { ok: 0, failed: 0 })
    const { name, server, address, tokenFile, caFile } = client
    if (program !== 'curl') this.#tell(program, client)
    else {
      const args = [script('curl-client.sh'), name, server, address, tokenFile, caFile]
      this.#curls.set(name, this.#watched(spawn('sh', args, { detached: true })))
    }
  }

  stop(program: Program, name: string): void {
    if (program !== 'curl') this.#tell(program, { stop: name })
    else end(this.#curls.get(name))
  }

  stopAll(): void {
    for (const crowd of Object.values(this.#crowds)) crowd.stdin?.end()
    for (const curl of this.#curls.values()) end(curl)
  }

  #tell(program: 'node' | 'python', told: TokenClient | { stop: string }): void {
    this.#crowds[program].stdin?.write(`${JSON.stringify(told)}\n`)
  }

  #watched(child: ChildProcess): ChildProcess {
    child.stderr?.on('data', text => process.stderr.write(text))
    if (!child.stdout) return child
    createInterface({ input: child.stdout }).on('line', line => {
      const [name = '', how, ...why] = line.split(' ')
      const tally = this.tallies.get(name)
      if (!tally) return
      if (how === 'ok') tally.ok += 1
      else {
        tally.failed += 1
        tally.why ??= why.join(' ')
      }
    })
    return child
  }
}

/** The shell and what it has started. */
function end(child: ChildProcess | undefined): void {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  process.kill(-child.pid, 'SIGTERM')
}
