/** A command of the operator, or a step that he does himself. */
import { RollcallError } from '../../errors.ts'
import { type Clock, type Spawn, withTimeout } from '../../ports.ts'
import { type Bad, fieldsOf, listOf, numberOf, pathOf, textOf } from './file-fields.ts'

export interface HookCommand {
  /** Absolute path and arguments. No shell reads them. */
  command: readonly [string, ...string[]]
  /** Milliseconds. */
  timeout: number
  /** How often it may fail before the rotation is paused. */
  attempts: number
}

/** `wait`: a human does it, and what can be read back says when it is done. */
export type Hook = HookCommand | 'wait'

export function hookOf(value: unknown, where: string, bad: Bad): Hook {
  return value === 'wait' ? 'wait' : hookCommandOf(value, where, bad)
}

export function hookCommandOf(value: unknown, where: string, bad: Bad): HookCommand {
  const hook = fieldsOf(value, where, ['command', 'timeoutSeconds', 'attempts'], bad)
  const [program, ...args] = listOf(hook.command, `${where}.command`, bad)
  const seconds = numberOf(
    hook.timeoutSeconds ?? 120,
    `${where}.timeoutSeconds`,
    { least: 1, most: 3600 },
    bad,
  )
  return {
    command: [
      pathOf(program, `${where}.command[0]`, bad),
      ...args.map((arg, index) => textOf(arg, `${where}.command[${index + 1}]`, bad)),
    ],
    timeout: seconds * 1000,
    attempts: numberOf(hook.attempts ?? 3, `${where}.attempts`, { least: 1, most: 100 }, bad),
  }
}

export interface HookPorts {
  spawn: Pick<Spawn, 'run'>
  clock: Clock
  /** Where it runs. */
  directory: string
}

/** Bytes of output that are kept. */
const mostOutput = 1024 * 1024
const mostTold = 300

/**
 * Runs it to its end, and gives what it printed. It names a state, so that running it again is harmless; it gets the
 * variables and a PATH, and nothing else of our environment. Rejects with HOOK_FAILED, which tells the end of its stderr.
 */
export async function runHook(
  name: string,
  { command: [command, ...args], timeout }: HookCommand,
  variables: Readonly<Record<string, string>>,
  { spawn, clock, directory }: HookPorts,
): Promise<string> {
  const abort = new AbortController()
  const environment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...variables }
  const order = { command, args, environment, directory, mostOutput, signal: abort.signal }
  const late = () => failed(name, `took longer than ${timeout / 1000} s`)
  try {
    const running = spawn.run(order)
    running.catch(() => {}) // that it was ended is told by whoever ended it
    const { code, stdout, stderr } = await withTimeout(clock, timeout, running, late)
    if (code !== 0) throw failed(name, `ended with code ${code}${told(stderr)}`)
    return new TextDecoder().decode(stdout)
  } catch (error) {
    throw error instanceof RollcallError ? error : failed(name, String(error), error)
  } finally {
    abort.abort()
  }
}

function failed(name: string, why: string, cause?: unknown): RollcallError {
  return new RollcallError('HOOK_FAILED', `${name} ${why}`, { name }, cause === undefined ? {} : { cause })
}

/** The last line that says something, printable. */
function told(stderr: Uint8Array): string {
  const lines = new TextDecoder().decode(stderr).split('\n')
  const last = lines.findLast(line => line.trim() !== '') ?? ''
  const text = last.replace(/[^\x20-\x7e]/g, '?').slice(0, mostTold)
  return text === '' ? '' : `: ${text}`
}
