/** A program: it gets the node's name as its last argument and prints JSON; exit code 3: it does not know the node. */
import type { Spawn } from '../../../ports.ts'
import { type EvidenceSource, longestAnswer } from './source.ts'

export interface ExecOptions {
  name: string
  timeout: number
  /** Absolute path. */
  command: string
  args: readonly string[]
  environment: Readonly<Record<string, string>>
  spawn: Pick<Spawn, 'run'>
}

const unknownNode = 3

export function execSource({
  name,
  timeout,
  command,
  args,
  environment,
  spawn,
}: ExecOptions): EvidenceSource {
  return {
    name,
    timeout,
    async ask(nodeName, signal) {
      // A node's name is a DNS name, so it is no option and needs no quoting; no shell comes in between.
      const { code, stdout } = await spawn.run({
        command,
        args: [...args, nodeName],
        environment,
        directory: '/',
        mostOutput: longestAnswer,
        signal,
      })
      if (code === unknownNode) return undefined
      if (stdout.length >= longestAnswer) throw new Error(`its answer is longer than ${longestAnswer} bytes`)
      // What it writes to stderr may hold secrets: it is not shown.
      if (code !== 0) throw new Error(`it ended with exit code ${code}`)
      return stdout
    },
  }
}
