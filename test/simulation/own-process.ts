import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/**
 * Runs a script of this folder in a process of its own and gives what it printed on stdout and stderr; rejects with both
 * when it fails. node:test hooks into every promise, which makes a simulation, all promises, half as fast again.
 */
export async function runScript(name: string, env: Record<string, string> = {}): Promise<string> {
  const options = { env: { ...process.env, ...env }, maxBuffer: 2 ** 30 }
  const flags = ['--disable-warning=ExperimentalWarning']
  try {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [...flags, `${import.meta.dirname}/${name}`],
      options,
    )
    return stdout + stderr
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${name} failed:\n${stdout.slice(-20_000)}\n${stderr}`)
  }
}
