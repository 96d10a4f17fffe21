// How long one decision about a CA rotation takes with 5,000 consumers: all gates, and a whole step.

import { issuerGate } from '../src/rollover/gates/issuer.ts'
import { artefactsGate, preflightGate } from '../src/rollover/gates/preflight.ts'
import { refusedGate } from '../src/rollover/gates/refused.ts'
import { servedGate } from '../src/rollover/gates/served.ts'
import { signedGate } from '../src/rollover/gates/signed.ts'
import { sinksGate } from '../src/rollover/gates/sinks.ts'
import { narrowedGate } from '../src/rollover/gates/trust.ts'
import type { Observations } from '../src/rollover/observations.ts'
import { removeGates, trustsNew } from '../src/rollover/phases.ts'
import { step } from '../src/rollover/step.ts'
import { consumer, planIn, quiet, start } from '../src/rollover/testing/quiet-cluster.ts'
import { line, median, micros } from './measure.ts'

const count = 5000
const runs = 200

/** Every tenth consumer has not answered, and holds a leaf of the old CA. */
const consumers = Array.from({ length: count }, (_, index) => {
  return consumer(`kubelet/node-${index}`, 'Kubelet', index % 10 === 0 ? { instance: 'boot-2' } : {})
})
const late = consumers.filter((_, index) => index % 10 === 0)
const holders = new Map([[1, late.map(({ id }) => ({ holder: id, notAfter: start + 1, renewable: true }))]])
const seen: Observations = quiet({
  consumers,
  leaves: { holders, ledgerComplete: true, lastUsed: new Map() },
})

function allGates(): number {
  const plan = planIn('Proving')
  const gates = [
    preflightGate(plan, seen),
    artefactsGate(plan, seen),
    signedGate(plan, seen),
    sinksGate(plan, 'wide', seen),
    trustsNew(plan, seen),
    servedGate(plan, seen, plan.to, 'bridged'),
    issuerGate(seen, plan.to),
    ...removeGates(plan, seen),
    refusedGate(seen, plan.from),
    narrowedGate(plan, seen, 3),
  ]
  return gates.length
}

function timed(work: () => unknown): number {
  const times = Array.from({ length: runs }, () => {
    const began = performance.now()
    work()
    return performance.now() - began
  })
  return median(times.slice(runs / 4))
}

/** Looking at every consumer once, and no more. */
const bare = timed(() => consumers.reduce((sum, { proof }) => sum + (proof?.generation ?? 0), 0))
line(
  'rollover gates',
  `all gates over ${count} consumers ${micros(timed(allGates))}, a step ${micros(timed(() => step(planIn('Proving'), seen)))}`,
  `2 ms wanted; touching each consumer once ${micros(bare)}`,
)
