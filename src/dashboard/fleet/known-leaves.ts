import type { Leaf } from '../../sign/leaf.ts'
import type { LastingLedger, LedgerEntry } from '../../sign/ledger.ts'
import { nodeOfUser } from '../../survey/node-identity.ts'
import { kindOfSigner, type LifeRow, type Lives, newer } from './rows.ts'

/** The newest certificates of each node, out of a ledger and as they are recorded. */
export interface KnownLeaves {
  lives: ReadonlyMap<string, Lives>
  /** Changes with `lives`. */
  generation(): number
  /** Reads what the ledger holds; once, however often it is called. */
  read(): Promise<void>
}

/** `ledger` is to be used in place of the one that is followed. */
export function followLedger(followed: LastingLedger): { ledger: LastingLedger; known: KnownLeaves } {
  const lives = new Map<string, Lives>()
  let generation = 0
  let reading: Promise<void> | undefined

  function take(leaf: Leaf): void {
    const node = nodeOfUser(leaf.holder)
    const kind = kindOfSigner(leaf.signerName)
    if (node === undefined || kind === 'other') return
    const known = lives.get(node) ?? {}
    const best = newer(known[kind], lifeOf(leaf))
    if (best) known[kind] = best
    lives.set(node, known)
    generation++
  }

  async function readAll(): Promise<void> {
    for await (const leaf of followed.issued) take(leaf)
  }

  return {
    ledger: {
      async record(entry: LedgerEntry) {
        await followed.record(entry)
        take(entry)
      },
      issued: followed.issued,
    },
    known: {
      lives,
      generation: () => generation,
      read() {
        reading ??= readAll().catch(error => {
          reading = undefined
          throw error
        })
        return reading
      },
    },
  }
}

function lifeOf({ notBefore, notAfter, issuerFingerprint }: Leaf): LifeRow {
  return [Math.floor(notBefore / 1000), Math.floor(notAfter / 1000), issuerFingerprint.slice(0, 8)]
}
