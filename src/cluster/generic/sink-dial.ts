/** Whether a fresh machine, with what a place hands out and nothing else, is let through to each API server as it is now. */
import type { Servers } from './generic-control.ts'

/** Where it was not, and why; undefined: everywhere, or the place hands out nothing. */
export async function dialWith(copies: readonly string[], servers: Servers): Promise<string | undefined> {
  const different = [...new Set(copies)].filter(pem => pem !== '')
  for (const [name, server] of servers)
    for (const pem of different) {
      const why = await server.dialled(pem)
      if (why !== undefined) return `${name}: ${why}`
    }
  return undefined
}
