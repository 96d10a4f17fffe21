// Random sequences of requests, the same to two servers:
//   ROLLCALL_SEED=7 ROLLCALL_SEQUENCES=5000 npm run conformance
// One again: ROLLCALL_SEED=7 ROLLCALL_FROM=123 ROLLCALL_SEQUENCES=1. With ROLLCALL_TEST_ASSETS the second server is the
// kube-apiserver of that folder; without, another instance of ours.
import { startRollcallServer } from './rollcall-server.ts'
import { secondServer } from './second-server.ts'
import { runSequences, type Side } from './sequences/run.ts'
import { wireTo } from './wire.ts'

const seed = Number(process.env.ROLLCALL_SEED ?? Date.now() % 1_000_000)
const from = Number(process.env.ROLLCALL_FROM ?? 0)
const count = Number(process.env.ROLLCALL_SEQUENCES ?? 1000)
console.log(`seed ${seed}`)
const first = await startRollcallServer()
const second = await secondServer()
const sides = [first, second.server].map(server => ({ name: server.name, wire: wireTo(server) }))
try {
  const more = (index: number) => index - from < count
  const result = await runSequences(sides as [Side, Side], { seed, from, more, reviewed: second.reviewed })
  for (const finding of result.findings) console.log(`FOUND ${finding}\n`)
  const { sequences, requests, findings, statuses } = result
  console.log(
    `${sequences} sequences, ${requests} requests to each of ${first.name} and ${second.server.name}, ${findings.length} findings; ${JSON.stringify(statuses)}`,
  )
  process.exitCode = findings.length > 0 ? 1 : 0
} finally {
  for (const { wire } of sides) wire.close()
  await first.stop()
  await second.server.stop()
}
