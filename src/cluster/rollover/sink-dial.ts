/** Whether a fresh machine, with what a place hands out and nothing else, is let through to each API server as it is now. */

export interface Dialled {
  /** Why who trusts these CAs (PEM), and no other, is not let through; undefined: he is. */
  dialled(authorities: string): Promise<string | undefined>
}

/** Why not at one of them with one of the copies; undefined: everywhere, or the place hands out nothing. */
export async function dialWith(
  copies: readonly string[],
  servers: Iterable<Dialled>,
): Promise<string | undefined> {
  const different = [...new Set(copies)].filter(pem => pem !== '')
  for (const server of servers)
    for (const pem of different) {
      const why = await server.dialled(pem)
      if (why !== undefined) return why
    }
  return undefined
}
