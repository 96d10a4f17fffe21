import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type RollcallProcess, startRollcall, temporaryFolder } from './rollcall-process.ts'

/** Debian's kubectl 1.20, where scripts/setup.mjs unpacks it: it knows neither OpenAPI v3 nor aggregated discovery. */
export const oldKubectl = fileURLToPath(new URL('../../.cache/kubectl-1.20/usr/bin/kubectl', import.meta.url))

/** Why the tests of the kubectl in PATH cannot run, for `skip`; false when they can. */
export const noKubectl: string | false =
  spawnSync('kubectl', ['version', '--client']).status === 0 ? false : 'there is no kubectl in PATH'

export const noOldKubectl: string | false = existsSync(oldKubectl)
  ? false
  : 'there is no .cache/kubectl-1.20 ("npm test" as root on Debian unpacks it)'

export interface KubectlResult {
  code: number | null
  stdout: string
  stderr: string
}

/** A string is split at spaces; give a list when an argument holds one. */
export type Arguments = string | readonly string[]

export interface Kubectl {
  run(args: Arguments, input?: unknown): Promise<KubectlResult>
  /** Standard output; fails the test unless kubectl ends with 0 and, warnings apart, says nothing on stderr. */
  ok(args: Arguments, input?: unknown): Promise<string>
  /** Standard error; fails the test unless kubectl ends with 1. */
  fails(args: Arguments, input?: unknown): Promise<string>
  /** Starts one that goes on, like `get --watch`. */
  follow(args: Arguments): Following
}

export interface Following {
  /** The next line it prints. */
  line(): Promise<string>
  stop(): Promise<void>
}

export interface KubectlOptions {
  kubeconfig: string
  /** kubectl keeps what it discovers below it. */
  home: string
  program?: string
  environment?: Record<string, string>
}

const list = (args: Arguments) => (typeof args === 'string' ? args.split(' ') : args)

/** kubectl against the cluster of a kubeconfig. `input` goes to its stdin: text, or objects as JSON. */
export function kubectl({ kubeconfig, home, program = 'kubectl', environment }: KubectlOptions): Kubectl {
  const start = (args: Arguments) =>
    spawn(program, ['--kubeconfig', kubeconfig, ...list(args)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: home, ...environment },
    })

  async function run(args: Arguments, input?: unknown): Promise<KubectlResult> {
    const child = start(args)
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', text => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', text => {
      stderr += text
    })
    child.stdin.on('error', () => {}) // it need not read what it is given
    child.stdin.end(textOf(input))
    const code = await new Promise<number | null>(resolve => child.on('close', resolve))
    return { code, stdout, stderr }
  }

  return {
    run,
    async ok(args, input) {
      const { code, stdout, stderr } = await run(args, input)
      const complaints = stderr.replace(/^warning: .*$/gim, '').trim()
      assert.deepEqual({ code, complaints }, { code: 0, complaints: '' }, `kubectl ${args}: ${stderr}`)
      return stdout
    },
    async fails(args, input) {
      const { code, stdout, stderr } = await run(args, input)
      assert.equal(code, 1, `kubectl ${args} ended with ${code}: ${stdout}${stderr}`)
      return stderr
    },
    follow(args) {
      const child = start(args)
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const ended = new Promise<void>(resolve => child.on('close', () => resolve()))
      return {
        line: async () => (await lines.next()).value ?? '(the end)',
        stop() {
          child.kill('SIGTERM')
          return ended
        },
      }
    },
  }
}

/** A document or several, as JSON documents of a YAML stream. */
function textOf(input: unknown): string {
  if (typeof input === 'string') return input
  const documents = Array.isArray(input) ? input : input === undefined ? [] : [input]
  return documents.map(document => `---\n${JSON.stringify(document)}\n`).join('')
}

/** What kubectl printed as a table, cell by cell. Ages (seconds, in a test) differ from run to run: they become `AGE`. */
export function cells(text: string): string[][] {
  const rows = text.trimEnd().split('\n')
  return rows.map(row => row.split(/ {2,}/).map(cell => (/^\d+s$/.test(cell) ? 'AGE' : cell)))
}

export interface Cluster {
  /** The kubectl of PATH as the administrator. */
  kubectl: Kubectl
  /** Another one: another program, another kubeconfig. */
  as(options: Partial<KubectlOptions>): Kubectl
  folder: string
  process: RollcallProcess
  stop(): Promise<void>
}

/** Starts `rollcall COMMAND` in a folder of its own on a free port, and waits until it is ready. */
async function startCluster(command: readonly string[]): Promise<Cluster> {
  const { path: folder, remove } = temporaryFolder()
  const directory = join(folder, 'data')
  const rollcall = startRollcall([...command, '--dir', directory, '--port', '0'])
  await rollcall.ready.catch(error => {
    remove()
    throw error
  })
  const options = { kubeconfig: join(directory, 'admin.kubeconfig'), home: folder }
  return {
    kubectl: kubectl(options),
    as: other => kubectl({ ...options, ...other }),
    folder: directory,
    process: rollcall,
    async stop() {
      await rollcall.stop()
      remove()
    },
  }
}

/**
 * One cluster for all tests of the file that calls this; none where they are skipped. `kubectl` speaks to it as its
 * administrator, once the tests run.
 */
export function clusterOfFile(
  command: readonly string[],
  skip = noKubectl,
): { cluster(): Cluster; kubectl: Kubectl } {
  let started: Cluster | undefined
  const cluster = () => started ?? assert.fail('the cluster is started before the first test')
  before(async () => {
    if (!skip) started = await startCluster(command)
  })
  after(() => started?.stop())
  return {
    cluster,
    kubectl: {
      run: (args, input) => cluster().kubectl.run(args, input),
      ok: (args, input) => cluster().kubectl.ok(args, input),
      fails: (args, input) => cluster().kubectl.fails(args, input),
      follow: args => cluster().kubectl.follow(args),
    },
  }
}
