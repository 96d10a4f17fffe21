import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** What to type for this program in this folder: in a clone, by `npx`, or as installed. */
export function calledAs(folder: string, { npm_command }: NodeJS.ProcessEnv): string {
  if (existsSync(join(folder, 'bin/rollcall'))) return 'bin/rollcall'
  return npm_command === 'exec' ? 'npx rollcall' : 'rollcall'
}
