import type { Database } from './database.ts'
import type { Fact } from './digest.ts'
import type { Fault, NodeFault } from './faults.ts'
import type { Machine } from './machine.ts'
import { type Network, noNetworkFaults } from './network.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A program on its machine: `start` runs it anew on what the disk holds. */
export interface Part {
  machine: Machine
  start(): void
  /** The machine loses its power, and what its disk had not synced. */
  cutPower(): void
}

/** What faults can hit. */
export interface Targets {
  time: VirtualTime
  network: Network
  nodes: readonly Part[]
  controlPlane: Part & { database: Database }
  controllers: Part
}

/** Two faults may stop the same part: whichever is over first starts it again. */
export function startUnlessRunning(part: Part): void {
  if (!part.machine.process?.alive) part.start()
}

/** Puts a schedule of faults on the clock: each begins at its time and is over after its duration. */
export function injectFaults(faults: readonly Fault[], targets: Targets): void {
  for (const fault of faults) {
    targets.time.at(fault.at, () => {
      targets.controlPlane.machine.record('fault', factsOf(fault))
      const end = begin(fault, targets)
      targets.time.after(fault.lasts, end)
    })
  }
}

function factsOf(fault: Fault): { [name: string]: Fact } {
  return 'faults' in fault ? { ...fault, faults: { ...fault.faults } } : { ...fault }
}

/** Makes the fault happen; the function returned ends it. */
function begin(fault: Fault, targets: Targets): () => void {
  const { network, nodes, controlPlane, controllers } = targets
  if ('node' in fault) {
    const node = nodes[fault.node]
    if (!node) throw new RangeError(`there is no node ${fault.node}`)
    return beginAtNode(fault, node)
  }
  switch (fault.kind) {
    case 'control plane clock jump':
      return jump(fault.by, controlPlane, controllers)
    case 'api killed':
      return stop(controlPlane, () => controlPlane.machine.kill())
    case 'api power cut':
      return stop(controlPlane, () => controlPlane.cutPower())
    case 'api disk full':
      return set(controlPlane.database, 'full', true, false)
    case 'controllers killed':
      return stop(controllers, () => controllers.machine.kill())
    case 'controllers cut off':
      return set(controllers.machine, 'partitioned', true, false)
    case 'bad network':
      return set(network, 'faults', fault.faults, noNetworkFaults)
  }
}

function beginAtNode(fault: NodeFault, node: Part): () => void {
  const { machine } = node
  switch (fault.kind) {
    case 'agent killed':
      return stop(node, () => machine.kill())
    case 'power cut':
      return stop(node, () => node.cutPower())
    case 'disk full':
      return set(machine.disk.faults, 'full', true, false)
    case 'disk read-only':
      return set(machine.disk.faults, 'readOnly', true, false)
    case 'disk slow':
      return set(machine, 'diskSlowness', 500, 1)
    case 'cut off':
      return set(machine, 'partitioned', true, false)
    case 'agent clock jump':
      return jump(fault.by, node)
  }
}

function stop(part: Part, how: () => void): () => void {
  how()
  return () => startUnlessRunning(part)
}

function set<T, K extends keyof T>(target: T, name: K, bad: T[K], good: T[K]): () => void {
  target[name] = bad
  return () => {
    target[name] = good
  }
}

function jump(by: number, ...parts: Part[]): () => void {
  for (const part of parts) part.machine.clock.jump(by)
  return () => {
    for (const part of parts) part.machine.clock.jump(-by)
  }
}
