// Judgements a second on one core, of serving requests that this process never saw: with reading and signature check, and
// without (the facts of requests read before).
import { AddressIndex } from '../src/approve/address-index.ts'
import { judge } from '../src/approve/judge.ts'
import { policyOf } from '../src/approve/policy-presets.ts'
import { type RequestReading, readRequest } from '../src/approve/read-request.ts'
import { defaultPolicySpec } from '../src/cluster/approval-policy.ts'
import { line, measured, median, micros, opensslSpeed, percent, whole } from './measure.ts'
import { type Asked, requests } from './requests.ts'

const COUNT = 5000
const PARTS = 5
/** Of other requests, until the code is compiled. */
const WARM_UP = 12_000

const now = Date.now()
const policy = policyOf(defaultPolicySpec([]))
// As they come from an API: out of JSON.
const asked: Asked[] = JSON.parse(JSON.stringify(await requests(WARM_UP + 2 * COUNT, 'serving')))
const claims = new AddressIndex()
for (const { node } of asked) claims.set(node)

function judged({ csr, node }: Asked, reading: RequestReading): void {
  const verdict = judge({ csr, reading, now, node, claims, policy })
  if (verdict.outcome !== 'Approve') throw new Error(`${csr.metadata.name}: ${verdict.reasons[0]?.message}`)
}

for (const each of asked.splice(0, WARM_UP)) judged(each, readRequest(each.csr))
const checked = await measured(async () => {
  for (const each of asked.slice(0, COUNT)) judged(each, readRequest(each.csr))
})
/** Milliseconds of CPU each. In parts, for their median: one collection of garbage is longer than a thousand judgements. */
const unchecked: number[] = []
for (let part = 0; part < PARTS; part++) {
  const read = asked.splice(COUNT, COUNT / PARTS).map(each => ({ each, reading: readRequest(each.csr) }))
  const { cpu } = await measured(async () => {
    for (const { each, reading } of read) judged(each, reading)
  })
  unchecked.push(cpu / read.length)
}
const alone = median(unchecked)
const { verifies } = await opensslSpeed()
const rate = (1000 * COUNT) / checked.cpu
line(
  'judgements',
  `${whole(rate)} a CPU second (${micros(checked.cpu / COUNT)} each) with reading and signature check, ` +
    `${whole(1000 / alone)} (${micros(alone)}) of requests that were read before`,
  `openssl speed: verify ${whole(verifies)}/s; reached ${percent(rate, verifies)}; targets: ≥ 4,500 and ≥ 40,000`,
)
