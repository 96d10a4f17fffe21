/**
 * A recorded session, one step a line. It holds what was sent, and of the answer what must hold: status, headers and the
 * body with symbols in place of what a server chooses itself: `$uid1`, `$rv213`, `$csr1`, `$time`, `$age`,
 * `$certificate`.
 */
import { readFileSync } from 'node:fs'

export interface Exchange {
  /** Number in the recording. */
  n: number
  /** `bearer` (the bootstrap token) or the name in the client certificate. */
  as: string
  method: string
  url: string
  headers: Record<string, string>
  body?: unknown
  status: number
  /** Content-Type of the answer. */
  type?: string
  cacheControl?: string
  /** Absent: not recorded. `discovery`: only the resources that Rollcall serves too. */
  answer?: unknown
  /** Of a watch, until the end of the session; absent: not recorded. */
  events?: unknown[]
}

/** What others did meanwhile. */
export interface Meanwhile {
  /** Name of a request that is approved, with reason and message of the condition. */
  approve?: string
  reason?: string
  message?: string
  /** Name of a request that gets its certificate. */
  issue?: string
}

export type Step = Exchange | Meanwhile

export function readSession(name: string): Step[] {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Step)
}
