import { spawnSync } from 'node:child_process'

/** What the openssl program, the oracle of our tests, says. */
export interface OpensslResult {
  status: number | null
  /** Standard output, then standard error. */
  text: string
}

export function openssl(arguments_: readonly string[], input: string | Uint8Array = ''): OpensslResult {
  const { status, stdout, stderr, error } = spawnSync('openssl', arguments_, { input, timeout: 20_000 })
  if (error) throw error
  return { status, text: `${stdout}${stderr}` }
}
