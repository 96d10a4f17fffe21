import type { Command } from '../survey/explanation.ts'
import type { LogLine } from './artifacts/artifacts.ts'
import { type View, view } from './check.ts'
import type { Evidence } from './finding.ts'

/** Lines that are shown of one log, the last ones. */
const shown = 3

/** What is told by a line of a log, one finding for each file; the same line again is no second fault. */
export function logView(
  pattern: RegExp,
  { cause, fix, verify }: { cause: string; fix: Command[]; verify: Command },
): View {
  return view({
    requiredArtifacts: ['logLines'],
    audit({ logLines }) {
      const told = Map.groupBy(
        logLines.filter(({ text }) => pattern.test(text)),
        ({ file }) => file,
      )
      return [...told].map(([file, lines]) => ({
        object: `log ${file}`,
        evidence: lines.slice(-shown).map(lineEvidence),
        cause,
        fix,
        verify,
      }))
    },
  })
}

export function lineEvidence({ text, file, at }: LogLine): Evidence {
  return { value: text, source: file, ...(at !== undefined && { at }) }
}
