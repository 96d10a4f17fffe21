import { RollcallError } from '../../errors.ts'
import type { SpawnOrder, TalkingProcess } from '../../ports.ts'
import type { ContainerStreams, ExecOrder } from '../runtime.ts'
import { terminalCommand } from './terminal-command.ts'

/** Runs a command where a container of plain processes runs, behind the same `prefix`, and talks with it. */
export async function openCommand(
  talk: ((order: SpawnOrder) => Promise<TalkingProcess>) | undefined,
  place: { prefix: readonly string[]; environment: Readonly<Record<string, string>>; directory: string },
  { command, tty, stdin }: ExecOrder,
): Promise<ContainerStreams> {
  if (!talk) throw new RollcallError('POD_RUNTIME_UNAVAILABLE', 'No command can be talked with here.')
  const [program = '', ...args] = [...place.prefix, ...(tty ? terminalCommand(command) : command)]
  const environment = tty ? { TERM: 'xterm', ...place.environment } : place.environment
  const process = await talk({ command: program, args, environment, directory: place.directory })
  if (!stdin) process.end()
  return {
    ...(stdin && { stdin: { write: bytes => process.write(bytes), end: () => process.end() } }),
    stdout: process.stdout,
    stderr: process.stderr,
    exitCode: process.ended,
    close: () => process.kill(),
  }
}
