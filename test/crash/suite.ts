import { temporaryFolder } from '../support/rollcall-process.ts'
import { type LifeReport, live } from './life.ts'
import { plan } from './plan.ts'

export interface SuiteOptions {
  seed: string
  times: number
  /** The seed, and at the end what was survived. */
  onLine(line: string): void
  /** Each round as it begins. */
  onRound?(line: string): void
}

const NODES = 5

/** Runs all rounds, each life in a folder of its own. Rejects at the first failure, with the command that runs it again. */
export async function crash({ seed, times, onLine, onRound }: SuiteOptions): Promise<void> {
  const again = `npm run crash -- --times ${times} --seed ${seed}`
  onLine(`crash: seed ${seed}; ${again}`)
  const began = performance.now()
  const totals: LifeReport = { early: 0, recovery: 0, acknowledged: 0, compared: 0 }
  for (const rounds of plan(seed, times, NODES)) {
    const folder = temporaryFolder()
    const lived: string[] = []
    const onLine = (line: string) => {
      lived.push(`  ${line}`)
      onRound?.(line)
    }
    try {
      const report = await live(rounds, { directory: folder.path, nodes: NODES, seed, onLine })
      totals.recovery = Math.max(totals.recovery, report.recovery)
      totals.early += report.early
      totals.acknowledged += report.acknowledged
      totals.compared += report.compared
    } catch (cause) {
      // The folder stays: what is in it is the evidence.
      const text = cause instanceof Error ? cause.message : String(cause)
      const story = [`after these rounds in ${folder.path}, whose files stay:`, ...lived].join('\n')
      throw new Error(`${text}\n${story}\nrun it again: ${again}`, { cause })
    }
    folder.remove()
  }
  const seconds = (performance.now() - began) / 1000
  onLine(
    `crash: ${times} kills survived in ${seconds.toFixed(0)} s (${(seconds / times).toFixed(1)} s each), ${totals.early} of them before it was ready, the slowest recovery took ${(totals.recovery / 1000).toFixed(1)} s; ` +
      `${totals.acknowledged} acknowledged writes, compared ${totals.compared} times, none lost`,
  )
}
