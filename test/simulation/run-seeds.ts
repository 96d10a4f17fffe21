// Runs the simulation for many seeds, one process for each core, and says which failed.
//   ROLLCALL_SEEDS=100000 npm run simulate      seeds 1 to 100000
//   ROLLCALL_FIRST_SEED=5000 ROLLCALL_SEEDS=10 npm run simulate
//   ROLLCALL_SEED=4711 npm run simulate         this one, with all its events
import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { runSeed } from '../../src/fleet/simulated/scenario.ts'
import { freshCluster } from './fresh-cluster.ts'
import { failureReport } from './report.ts'

const number = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise)
const one = process.env.ROLLCALL_SEED
const first = number('ROLLCALL_FIRST_SEED', 1)
const count = number('ROLLCALL_SEEDS', 1000)

if (one !== undefined) process.exit(await runOne(one))
else if (process.env.ROLLCALL_SEED_STEP !== undefined)
  process.exit(await runShare(number('ROLLCALL_SEED_STEP', 1)))
else process.exit(await runAll())

async function runOne(seed: string): Promise<number> {
  const foundation = await freshCluster()
  const outcome = await runSeed({ foundation, seed, onLine: line => process.stdout.write(line) })
  if (outcome.troubles.length > 0) console.error(failureReport({ ...outcome, tail: '(above)' }))
  console.error(`seed ${seed}: ${outcome.events} events, digest ${outcome.digest}`)
  return outcome.troubles.length === 0 ? 0 : 1
}

/** Every `step`-th seed from `first` on. */
async function runShare(step: number): Promise<number> {
  const foundation = await freshCluster()
  let failed = 0
  let done = 0
  for (let seed = first; seed < first + count; seed += step) {
    // An error that nobody awaits belongs to the seed that runs.
    const onError = (error: unknown) => {
      console.log(`seed ${seed} broke the process; run it: ROLLCALL_SEED=${seed} npm run simulate`)
      console.log(error)
      process.exit(1)
    }
    process.once('uncaughtException', onError)
    const outcome = await runSeed({ foundation, seed: String(seed) })
    process.removeListener('uncaughtException', onError)
    if (outcome.troubles.length > 0) {
      failed += 1
      console.log(failureReport(outcome))
    }
    // A run of hours says how far it is, so that one that is stopped still tells what it has shown.
    done += 1
    if (done % 250 === 0)
      console.log(`seeds ${first} to ${seed}, every ${step}.: ${failed} of ${done} failed so far`)
  }
  return failed === 0 ? 0 : 1
}

async function runAll(): Promise<number> {
  const shares = Math.min(count, availableParallelism())
  const started = performance.now()
  const runs = Array.from({ length: shares }, (_, index) => {
    const env = {
      ...process.env,
      ROLLCALL_SEED_STEP: String(shares),
      ROLLCALL_FIRST_SEED: String(first + index),
      ROLLCALL_SEEDS: String(count - index),
    }
    return new Promise<number>(resolve =>
      fork(import.meta.filename, { env }).on('exit', code => resolve(code ?? 1)),
    )
  })
  const codes = await Promise.all(runs)
  const seconds = (performance.now() - started) / 1000
  const each = ((seconds * shares * 1000) / count).toFixed(0)
  console.log(
    `seeds ${first} to ${first + count - 1} in ${seconds.toFixed(0)} s (${each} ms each): ${codes.every(code => code === 0) ? 'all passed' : 'SOME FAILED'}`,
  )
  return codes.every(code => code === 0) ? 0 : 1
}
