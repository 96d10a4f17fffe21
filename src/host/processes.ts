/** Which process of a control plane's component runs on this machine, by /proc. */
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { ComponentProcesses, RunningComponent } from '../agent/control-plane/processes.ts'
import { systemCode } from '../errors.ts'

/** `root`: `/proc`. */
export function processesIn(root = '/proc'): ComponentProcesses {
  return {
    async running(component) {
      const found: RunningComponent[] = []
      for (const name of await readdir(root)) {
        if (!/^\d+$/.test(name)) continue
        const process = await read(`${root}/${name}`, name)
        if (process && basename(process.command[0] ?? '') === component) found.push(process)
      }
      // Two of them are a pod that ends and one that begins.
      return found.length === 1 ? found[0] : undefined
    },
  }
}

/** undefined: it has ended meanwhile, or is a thread of the kernel. */
async function read(directory: string, id: string): Promise<RunningComponent | undefined> {
  try {
    const words = (await readFile(`${directory}/cmdline`, 'utf8')).split('\0').slice(0, -1)
    const stat = await readFile(`${directory}/stat`, 'utf8')
    // The name in parentheses may hold anything; field 22 counts from after it (proc_pid_stat(5)).
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return words.length === 0 || started === undefined
      ? undefined
      : { instance: `${id}/${started}`, command: words }
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return undefined
    throw error
  }
}
