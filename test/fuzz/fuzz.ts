// Sends the API what nobody should: npm run fuzz -- --seconds 3600 --seed 7   (one case again: --from 123 --cases 1)
// Raw bytes over a socket come on top, for a tenth of the time.
import { parseArgs } from 'node:util'
import { rawRun } from './raw-run.ts'
import { HEAP_GROWTH, watchedRun } from './watched-run.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    from: { type: 'string', default: '0' },
    cases: { type: 'string' },
  },
})
const seed = Number(values.seed)
console.log(`seed ${seed}`)
const run = await watchedRun({
  seed,
  from: Number(values.from),
  seconds: Number(values.seconds),
  ...(values.cases !== undefined && { cases: Number(values.cases) }),
})
for (const finding of run.findings) console.log(`FOUND ${finding}\n`)
if (values.cases === undefined) {
  const end = Date.now() + 100 * Number(values.seconds)
  const raw = await rawRun(seed, () => Date.now() < end)
  run.findings.push(...raw.findings)
  for (const finding of raw.findings) console.log(`FOUND ${finding}\n`)
  console.log(`${raw.messages} raw messages`)
}
const grown = run.heap.late - run.heap.early
if (grown > HEAP_GROWTH) console.log(`FOUND the heap grew by ${grown.toFixed(0)} MB`)
console.log(
  `${run.cases} cases, ${run.findings.length} findings; slowest ${run.slowest.toFixed(0)} ms; heap ${run.heap.early.toFixed(0)} -> ${run.heap.late.toFixed(0)} MB; ${JSON.stringify(run.statuses)}`,
)
process.exitCode = run.findings.length > 0 || grown > HEAP_GROWTH ? 1 : 0
