import type { Command } from 'commander'
import { sleep } from '../ports.ts'
import type { CommandIo } from './command-io.ts'
import { untilStopped } from './until-stopped.ts'

/** Milliseconds between two looks. */
const pause = 2000

/** Adds `--watch`. */
export const addWatchOption = (command: Command): Command =>
  command.option('-w, --watch', 'show it again every two seconds, until Ctrl-C')

/** Once, or with `watch` again and again until `stopped`: on a terminal in the same place. */
export async function shownAgain(
  io: CommandIo,
  watch: boolean | undefined,
  show: () => Promise<void>,
  stopped: () => Promise<unknown> = untilStopped,
): Promise<void> {
  if (!watch) return show()
  const ending = new AbortController()
  void stopped().then(() => ending.abort())
  while (!ending.signal.aborted) {
    // To the upper left corner, and the rest of the screen away.
    if (io.isTerminal) io.stdout('\u001b[H\u001b[J')
    await show()
    await sleep(io.clock, pause, ending.signal)
  }
}
