// Time until `rollcall up` with nine nodes is ready, warm (compile cache filled), in a new directory each time.
import { spawnSync } from 'node:child_process'
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { line, median } from './measure.ts'

const RUNS = 5
const NODES = 9

/** Seconds from the start of the process to its ready line. */
async function once(): Promise<number> {
  const folder = temporaryFolder()
  const began = performance.now()
  const up = startRollcall(['up', '--nodes', String(NODES), '--dir', folder.path, '--port', '0'])
  await up.ready
  const seconds = (performance.now() - began) / 1000
  await up.stop()
  folder.remove()
  return seconds
}

/** Seconds that Node.js takes to start and do nothing. */
function bareStart(): number {
  const began = performance.now()
  spawnSync(process.execPath, ['-e', '0'])
  return (performance.now() - began) / 1000
}

await once() // fills the compile cache
const runs: number[] = []
for (let run = 0; run < RUNS; run += 1) runs.push(await once())
const sorted = [...runs].sort((a, b) => a - b).map(seconds => seconds.toFixed(2))
line(
  'up',
  `${median(runs).toFixed(2)} s to ${NODES} nodes with both certificates (median of ${RUNS}: ${sorted.join(', ')}; target < 2 s)`,
  `two starts of Node.js that do nothing take ${(2 * median([1, 2, 3, 4, 5].map(bareStart))).toFixed(2)} s`,
)
