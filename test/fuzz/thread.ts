import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'
import { fuzz } from './run.ts'
import type { FromThread, RunOptions } from './watched-run.ts'

/** More than these are the same again. */
const MOST_FINDINGS = 20
/** What a run needs until everything is loaded and every cache has its size. */
const EARLY = 3000

const {
  seed,
  from = 0,
  seconds,
  cases = Number.POSITIVE_INFINITY,
  current,
} = workerData as RunOptions & {
  current: SharedArrayBuffer
}
const index = new Int32Array(current)
const tell = (message: FromThread) => parentPort?.postMessage(message)
setFlagsFromString('--expose-gc')
// The flag shows in contexts made after it was set.
const collectGarbage = runInNewContext('gc') as () => void
const heapNow = () => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const end = performance.now() + seconds * 1000
let findings = 0
let early = 0
const result = await fuzz({
  seed,
  from,
  more: at => at - from < cases && findings < MOST_FINDINGS && performance.now() < end,
  onCase(at) {
    Atomics.store(index, 0, at)
    if (at - from === EARLY) early = heapNow()
  },
  onFinding(finding) {
    findings++
    tell({ type: 'finding', finding })
  },
})
const late = heapNow()
tell({ type: 'done', result, heap: { early: early || late, late } })
