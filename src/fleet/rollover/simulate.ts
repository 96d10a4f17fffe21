/** One rollover of a simulated fleet from beginning to end, told in figures. */
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { type Mutation, mutations, none } from '../../rollover/simulated/mutations.ts'
import { lastGeneration } from '../../rollover/simulated/world.ts'
import { SeededRandom } from '../simulated/random.ts'
import { RolloverFleet } from './rollover-fleet.ts'
import { sampleOverTls } from './tls-sample.ts'

export interface SimulationOptions {
  nodes: number
  role: TrustRole
  seed: string
  /** False: the switch waits for nobody's answer, and the old CA goes whoever needs it. */
  gates: boolean
  /** Nodes that talk to an API server over real TLS at each change of phase. */
  sample?: number
}

export interface SimulationReport {
  nodesLost: number
  nodes: number
  role: TrustRole
  seed: string
  gates: boolean
  phase: string
  /** By the simulated clock. */
  hours: number
  turns: number
  restarts: number
  certificates: number
  handshakes: number
  refused: number
  broken: readonly string[]
  history: readonly string[]
}

const hour = 3_600_000

export async function simulateRollover({
  nodes,
  role,
  seed,
  gates,
  sample = 250,
}: SimulationOptions): Promise<SimulationReport> {
  const random = new SeededRandom(seed)
  const mutation = gates ? none : noGates
  // Signers hand out leaves alone: only the API server's own chain can be bridged by a certificate beside it.
  const policy = { bridge: role === 'apiserver-serving' ? 'CrossSigned' : 'None' } as const
  const fleet = await RolloverFleet.create({ nodes, role, policy, random: random.stream('fleet'), mutation })
  const { world } = fleet
  const began = world.now
  const tls = random.stream('tls')
  let phase = ''
  let handshakes = 0
  let talked = 0
  await fleet.run({
    async before() {
      const { plan } = world.store
      if (plan.phase === 'Prepared' && world.keys.has(plan.to) && lastGeneration(world) === 1)
        await fleet.ceremony(1)
      if (plan.phase === phase) return
      phase = plan.phase
      const result = await sampleOverTls(fleet, sample, tls)
      handshakes += result.handshakes
      talked += result.talked
    },
  })
  const { plan } = world.store
  return {
    nodesLost: fleet.lost.size,
    nodes,
    role,
    seed,
    gates,
    phase: plan.paused ? 'Paused' : plan.phase,
    hours: Math.round(((world.now - began) / hour) * 10) / 10,
    turns: fleet.turns,
    restarts: world.members.reduce((sum, { instance }) => sum + instance - 1, 0),
    certificates: fleet.issuing.issued,
    handshakes,
    refused: handshakes - talked,
    // Without gates they break; that is what is shown.
    broken: gates ? fleet.broken : [],
    history: plan.history.map(
      ({ at, from, to, reason }) => `${hoursSince(began, at)} ${from} -> ${to} ${reason}`,
    ),
  }
}

function hoursSince(began: number, at: number): string {
  return `+${((at - began) / hour).toFixed(1)}h`
}

const noGates: Mutation = {
  ...none,
  sees(seen, world) {
    const believed = mutations.noLiveGate.sees(mutations.noGate.sees(seen, world))
    const refuses = [world.store.plan.from]
    const consumers = believed.consumers.map(one =>
      one.proof ? { ...one, proof: { ...one.proof, refuses } } : one,
    )
    return { ...believed, consumers }
  },
}
