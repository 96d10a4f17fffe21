import type { AgentOptions } from '../../agent/agent-options.ts'
import { ControlPlane } from './control-plane.ts'
import { SimulatedControllers } from './controllers.ts'
import { Database } from './database.ts'
import { EventDigest } from './digest.ts'
import { DurabilityWatch } from './durability-watch.ts'
import { apiAddress, type Foundation } from './foundation.ts'
import { startUnlessRunning } from './inject.ts'
import { IssuanceWatch } from './issuance-watch.ts'
import { Machine } from './machine.ts'
import { Network } from './network.ts'
import { SeededRandom } from './random.ts'
import { SimulatedNode } from './simulated-node.ts'
import type { Thief } from './thief.ts'
import { VirtualTime } from './virtual-time.ts'

export interface WorldOptions {
  foundation: Foundation
  seed: string
  nodes: number
  /** What the signer gives at most. */
  certificateLifetimeSeconds: number
  /** Milliseconds that a machine's wall clock may be wrong from the beginning, ahead or behind. */
  clockError?: number
  agent?: Partial<AgentOptions>
  /** Seconds after which watches of the controllers are asked to end, and between bookmarks of all; default: real ones. */
  watchTimeoutSeconds?: number
  bookmarkSeconds?: number
  /** Sees each line of the digest. */
  onLine?(line: string): void
}

/** API, controllers and nodes, each on its own machine, in one process and one virtual time. Nothing runs yet. */
export interface World {
  readonly time: VirtualTime
  readonly random: SeededRandom
  readonly digest: EventDigest
  readonly network: Network
  readonly controlPlane: ControlPlane
  readonly controllers: SimulatedControllers
  readonly nodes: readonly SimulatedNode[]
  readonly issuance: IssuanceWatch
  readonly durability: DurabilityWatch
  readonly foundation: Foundation
  thief?: Thief
}

export function createWorld(options: WorldOptions): World {
  const { foundation, seed, certificateLifetimeSeconds, clockError = 0 } = options
  const random = new SeededRandom(seed)
  const time = new VirtualTime(foundation.start)
  const digest = new EventDigest(400, options.onLine)
  const network = new Network(time, random.stream('network'))
  const offsets = random.stream('clocks')
  const machine = (name: string) =>
    new Machine(
      name,
      { time, digest },
      random.stream(name),
      Math.round(offsets.between(-clockError, clockError)),
    )
  const claims = Array.from({ length: options.nodes }, (_, index) => nodeAt(index + 1))
  const issuance = new IssuanceWatch(claims, () => time.now)
  const database = new Database(foundation.database)
  const durability = new DurabilityWatch(database)
  const controlPlane = new ControlPlane({
    machine: machine('api'),
    network,
    address: `${apiAddress.host}:${apiAddress.port}`,
    pki: foundation.pki,
    database,
    limits: { ...(options.bookmarkSeconds && { bookmarkSeconds: options.bookmarkSeconds }) },
    onOpen: store => issuance.follow(store),
    onAnswer: (request, response) => durability.see(request, response),
  })
  const controllers = new SimulatedControllers({
    machine: machine('controllers'),
    network,
    foundation,
    certificateLifetimeSeconds,
    approvalPolicy: { evidence: 'NodeStatus', allowedRanges: [] },
    ...(options.watchTimeoutSeconds && { watchTimeoutSeconds: options.watchTimeoutSeconds }),
  })
  const nodes = claims.map(
    claim =>
      new SimulatedNode({
        ...claim,
        machine: machine(claim.name),
        network,
        foundation,
        ...(options.agent && { agent: options.agent }),
      }),
  )
  return { time, random, digest, network, controlPlane, controllers, nodes, issuance, durability, foundation }
}

/** node-1 at 10.1.0.1, node-2 at 10.1.0.2, and so on: 65,000 nodes fit. */
function nodeAt(number: number): { name: string; address: string } {
  return { name: `node-${number}`, address: `10.1.${number >> 8}.${number & 255}` }
}

/** Starts everything: the control plane now, the nodes spread over `within` milliseconds. */
export function startWorld({ time, random, controlPlane, controllers, nodes }: World, within = 1000): void {
  controlPlane.start()
  controllers.start()
  const starts = random.stream('starts')
  for (const node of nodes) time.after(starts.between(0, within), () => startUnlessRunning(node))
}
