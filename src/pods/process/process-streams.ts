import { RollcallError } from '../../errors.ts'
import type { Clock, Disk, Spawn } from '../../ports.ts'
import type { ContainerStreams, ExecOrder } from '../runtime.ts'
import { terminalCommand } from './terminal-command.ts'
import { resizeTerminal } from './terminal-size.ts'

/** Runs a command where a container of plain processes runs, behind the same `prefix`, and talks with it. */
export async function openCommand(
  ports: { spawn: Spawn; disk: Disk; clock: Clock },
  place: { prefix: readonly string[]; environment: Readonly<Record<string, string>>; directory: string },
  { command, tty, stdin }: ExecOrder,
): Promise<ContainerStreams> {
  const { talk } = ports.spawn
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
    ...(tty && {
      // One that fails leaves the size as it is.
      resize: size => void resizeTerminal(process.processId, size, ports).catch(() => {}),
    }),
    close: () => process.kill(),
  }
}
