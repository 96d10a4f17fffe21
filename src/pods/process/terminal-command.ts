/** bsdutils, essential in Debian. */
const script = '/usr/bin/script'

/** The command line that runs a command on a terminal of its own; its exit code is the command's. */
export function terminalCommand(command: readonly string[]): string[] {
  // script wants one text for a shell; the shell becomes the command.
  return [
    script,
    '--quiet',
    '--return',
    '--flush',
    '--command',
    `exec ${command.map(quoted).join(' ')}`,
    '/dev/null',
  ]
}

/** One word of a POSIX shell, whatever is in it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
