/** One sequence after the other to two servers: what either does wrong by itself, and in what they differ. */
import { chanceOf } from '../../fuzz/chance.ts'
import type { Wire } from '../wire.ts'
import { comparable } from './comparable.ts'
import { describe, differencesOf, isReviewed } from './differences.ts'
import { sequenceOf } from './generate.ts'
import { listsAgree } from './invariants/lists-agree.ts'
import { readsTellWrites } from './invariants/reads-tell-writes.ts'
import { watchTellsAll } from './invariants/watch-tells-all.ts'
import { wellFormed } from './invariants/well-formed.ts'
import type { Played } from './play.ts'
import { play } from './play.ts'
import type { Reviewed } from './reviewed.ts'

export interface Side {
  /** For findings. */
  name: string
  wire: Wire
}

export interface SequencesOptions {
  seed: number
  /** Number of the first sequence. */
  from?: number
  more(index: number): boolean
  /** Differences that need not be told. */
  reviewed: readonly Reviewed[]
}

export interface SequencesResult {
  sequences: number
  requests: number
  findings: string[]
  /** Answers of the first server by their status. */
  statuses: Record<number, number>
}

/** More findings than these are the same again. */
const MOST_FINDINGS = 50

export async function runSequences(
  sides: readonly [Side, Side],
  { seed, from = 0, more, reviewed }: SequencesOptions,
): Promise<SequencesResult> {
  const result: SequencesResult = { sequences: 0, requests: 0, findings: [], statuses: {} }
  for (let index = from; more(index) && result.findings.length < MOST_FINDINGS; index++) {
    const sequence = sequenceOf(chanceOf(seed, index), `${seed}-${index}`)
    const [ours = [], theirs = []] = await Promise.all(sides.map(({ wire }) => play(wire, sequence)))
    const differences = differencesOf(sequence, comparable(ours), comparable(theirs))
    const told = [
      ...brokenBy(ours).map(what => `${sides[0].name}: ${what}`),
      ...brokenBy(theirs).map(what => `${sides[1].name}: ${what}`),
      ...differences.filter(difference => !isReviewed(difference, reviewed)).map(describe),
    ]
    result.findings.push(...told.map(what => `seed ${seed}, sequence ${index}: ${what}`))
    result.sequences++
    for (const { answer } of ours) {
      if (!answer) continue
      result.requests++
      result.statuses[answer.status] = (result.statuses[answer.status] ?? 0) + 1
    }
  }
  return result
}

/** What no Kubernetes API may do. */
function brokenBy(played: readonly Played[]): string[] {
  return [
    ...played.flatMap((one, at) =>
      wellFormed(one).map(what => `step ${at} (${one.step.method} ${one.step.url}): ${what}`),
    ),
    ...readsTellWrites(played),
    ...listsAgree(played),
    ...watchTellsAll(played),
  ]
}
