/** What the published heads say about a chain: whether its end was cut off or replaced. */
import type { ChainPosition } from './audit-entry.ts'
import { headIsSigned, headKeyDigest, type SignedHead } from './signed-head.ts'

export interface HeadsReport {
  /** What is wrong; empty: the log agrees with what others keep. */
  problems: readonly string[]
  /** The newest head of this chain that holds. */
  head?: SignedHead
}

/**
 * `hashOf`: the hash of the entry with this number, undefined when the log has none; `oldest`: the first number that it
 * has. `pinned`: the digest of the only key that is trusted.
 */
export function checkHeads(
  heads: readonly SignedHead[],
  position: ChainPosition | undefined,
  hashOf: (seq: number) => string | undefined,
  oldest: number,
  pinned?: string,
): HeadsReport {
  const problems: string[] = []
  let newest: SignedHead | undefined
  for (const head of heads) {
    if (position && head.chain !== position.chain) continue
    const digest = headKeyDigest(head)
    if (!headIsSigned(head)) problems.push(`the published head ${head.seq} is not signed by the key it names`)
    else if (pinned !== undefined && digest !== pinned)
      problems.push(`the published head ${head.seq} is signed by another key: ${digest}`)
    else {
      newest ??= head
      const problem = compared(head, position, hashOf, oldest)
      if (problem) problems.push(problem)
    }
  }
  return { problems, ...(newest && { head: newest }) }
}

function compared(
  head: SignedHead,
  position: ChainPosition | undefined,
  hashOf: (seq: number) => string | undefined,
  oldest: number,
): string | undefined {
  if (!position || position.seq < head.seq)
    return `entries ${(position?.seq ?? 0) + 1} to ${head.seq} are missing: the head of ${head.time} was ${head.seq}`
  // Rotated away since.
  if (head.seq < oldest) return undefined
  return hashOf(head.seq) === head.hash
    ? undefined
    : `entry ${head.seq} is another one than at ${head.time}, when the head was published`
}
