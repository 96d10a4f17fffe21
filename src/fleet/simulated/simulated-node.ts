import { type Agent, startAgent } from '../../agent/agent.ts'
import type { AgentOptions } from '../../agent/agent-options.ts'
import type { Foundation } from './foundation.ts'
import { type HeldPair, heldPair } from './held-pair.ts'
import type { NodeClaims } from './issuance-watch.ts'
import type { Machine } from './machine.ts'
import type { Network } from './network.ts'

const directory = '/var/lib/kubelet/pki'
const bootstrapPath = '/etc/kubernetes/bootstrap-kubelet.conf'

const kinds = ['kubelet-client', 'kubelet-server'] as const
export type CertificateKind = (typeof kinds)[number]

export interface SimulatedNodeOptions extends NodeClaims {
  machine: Machine
  network: Network
  foundation: Foundation
  /** Laid over the agent's options: how often it reports, looks at its clock … */
  agent?: Partial<AgentOptions>
}

/** One node: its disk holds the bootstrap kubeconfig from the beginning, its agent is started and killed at will. */
export class SimulatedNode {
  readonly machine: Machine
  readonly name: string
  readonly address: string
  /** Power cuts after which a pair that was long on the disk was gone. */
  readonly violations: string[] = []
  /** Of the last start. */
  agent: Agent | undefined
  readonly #options: SimulatedNodeOptions

  constructor(options: SimulatedNodeOptions) {
    this.#options = options
    this.machine = options.machine
    this.name = options.name
    this.address = options.address
    const { disk } = this.machine
    disk.makeDirectory('/etc/kubernetes', 0o755)
    disk.write(bootstrapPath, options.foundation.bootstrapKubeconfig, { mode: 0o600, sync: true })
    disk.syncDirectory('/etc/kubernetes')
    disk.syncDirectory('/etc')
    disk.syncDirectory('/')
  }

  start(): void {
    const { machine, network, name, address, agent } = this.#options
    const process = machine.start()
    this.agent = startAgent(
      {
        nodeName: name,
        addresses: [
          { type: 'InternalIP', address },
          { type: 'Hostname', address: name },
        ],
        certDirectory: directory,
        kubeconfigPath: '/etc/kubernetes/kubelet.conf',
        bootstrapKubeconfigPath: bootstrapPath,
        rotateCertificates: true,
        serverTLSBootstrap: true,
        keyAlgorithm: 'Ed25519',
        ...agent,
      },
      {
        clock: process.clock,
        random: process.random.stream('agent'),
        disk: process.disk,
        log: process.log,
        connect: network.connectFrom(process),
      },
    )
  }

  /** A pair that was on the disk for a minute must be there afterwards, or a later one. */
  cutPower(): void {
    const { machine, name } = this
    const settled = kinds.filter(
      kind => this.#writtenAt(kind) < machine.clock.now() - 60_000 && this.held(kind),
    )
    machine.cutPower()
    for (const kind of settled) {
      if (!this.#holdsAny(kind)) this.violations.push(`${name}: a power cut took the pair of ${kind}`)
    }
  }

  /** Wall-clock time (ms) at which the file that `current` shows was written. */
  #writtenAt(kind: CertificateKind): number {
    try {
      const { disk } = this.machine
      const target = disk.readlink(`${directory}/${kind}-current.pem`)
      return disk.stat(target.startsWith('/') ? target : `${directory}/${target}`).modified
    } catch {
      return Number.POSITIVE_INFINITY
    }
  }

  /** Whether the store finds a pair when the agent starts again: the current one, or another file to fall back on. */
  #holdsAny(kind: CertificateKind): boolean {
    const { disk } = this.machine
    const files = disk.list(directory).filter(file => file.startsWith(kind))
    return files.some(file => heldPair(disk, `${directory}/${file}`)?.keyMatches)
  }

  /** The file with certificate and key; undefined where there is none. */
  pairText(kind: CertificateKind): string | undefined {
    try {
      return new TextDecoder().decode(this.machine.disk.read(`${directory}/${kind}-current.pem`))
    } catch {
      return undefined
    }
  }

  /** What the disk holds now; undefined where there is no usable pair. */
  held(kind: CertificateKind): HeldPair | undefined {
    return heldPair(this.machine.disk, `${directory}/${kind}-current.pem`)
  }
}
