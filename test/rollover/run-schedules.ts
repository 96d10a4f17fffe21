// Runs the model check of a CA rotation for many seeds, one process for each core, and says which failed.
//   ROLLCALL_SEEDS=100000 npm run schedules      seeds 1 to 100000
//   ROLLCALL_FIRST_SEED=5000 ROLLCALL_SEEDS=10 npm run schedules
//   ROLLCALL_SEED=4711 npm run schedules         this one, with all that happened
//   ROLLCALL_WHOLE=1 … npm run schedules         the same with real keys, signed bundles, certificates and handshakes
import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { runFleetSchedule } from '../../src/fleet/rollover/testing/fleet-schedule.ts'
import { authorityPool } from '../../src/rollover/simulated/authority-pool.ts'
import type { Outcome } from '../../src/rollover/testing/schedule.ts'
import { report, runVariant } from '../../src/rollover/testing/variants.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'

const number = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise)
const one = process.env.ROLLCALL_SEED
const first = number('ROLLCALL_FIRST_SEED', 1)
const count = number('ROLLCALL_SEEDS', 2000)
const step = process.env.ROLLCALL_SEED_STEP
const whole = process.env.ROLLCALL_WHOLE === '1'

if (one !== undefined) process.exit(await runOne(Number(one)))
else process.exit(step === undefined ? await runAll() : await runShare(Number(step)))

interface Model {
  run(seed: number): Promise<Outcome>
  /** Throws where TLS decides otherwise than the path check did. */
  confirm(): Promise<unknown>
}

async function model(): Promise<Model> {
  if (whole) return { run: runFleetSchedule, confirm: async () => {} }
  const pool = await authorityPool(4, seededRandom(77))
  return { run: async seed => runVariant(pool, seed), confirm: () => pool.confirm() }
}

async function runOne(seed: number): Promise<number> {
  const { run, confirm } = await model()
  const outcome = await run(seed)
  await confirm()
  console.log(outcome.trace.join('\n'))
  console.log(`seed ${seed}: ${outcome.violation ?? outcome.phase}`)
  return outcome.violation === undefined ? 0 : 1
}

/** Every `step`-th seed from `first` on. */
async function runShare(every: number): Promise<number> {
  const { run, confirm } = await model()
  let failed = 0
  for (let seed = first; seed < first + count; seed += every) {
    const outcome = await run(seed)
    if (outcome.violation === undefined) continue
    failed += 1
    console.log(report(seed, outcome))
  }
  await confirm()
  const { user, system } = process.cpuUsage()
  const mine = Math.ceil(count / every)
  console.log(`${mine} schedules, ${((user + system) / 1000 / mine).toFixed(1)} ms of CPU each`)
  return failed === 0 ? 0 : 1
}

async function runAll(): Promise<number> {
  const shares = Math.min(count, availableParallelism())
  const started = performance.now()
  const codes = await Promise.all(Array.from({ length: shares }, (_, index) => runInProcess(index, shares)))
  const passed = codes.every(code => code === 0)
  const seconds = (performance.now() - started) / 1000
  const each = ((seconds * shares * 1000) / count).toFixed(1)
  const verdict = passed ? 'all passed' : 'SOME FAILED'
  const what = whole ? 'whole-system schedules' : 'schedules'
  console.log(
    `${what} ${first} to ${first + count - 1} in ${seconds.toFixed(0)} s (${each} ms each): ${verdict}`,
  )
  return passed ? 0 : 1
}

function runInProcess(index: number, shares: number): Promise<number> {
  const env = {
    ...process.env,
    ROLLCALL_SEED_STEP: String(shares),
    ROLLCALL_FIRST_SEED: String(first + index),
    ROLLCALL_SEEDS: String(count - index),
  }
  return new Promise(resolve => {
    fork(import.meta.filename, { env }).on('exit', code => resolve(code ?? 1))
  })
}
