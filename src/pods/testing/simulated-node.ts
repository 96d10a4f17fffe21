import assert from 'node:assert/strict'
import { asynchronousDisk, MachineDisk } from '../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../fleet/simulated/random.ts'
import type { Disk, Net } from '../../ports.ts'
import { createManualClock, type ManualClock, settle } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { StaticPods, type StaticPodsOptions } from '../static-pods.ts'
import { createMemoryRuntime, type MemoryRuntime } from './memory-runtime.ts'

export interface SimulatedNode {
  clock: ManualClock
  disk: Disk
  log: ReturnType<typeof recordingLog>
  runtime: MemoryRuntime
  pods: StaticPods
  /** Another agent's, on the same machine. */
  another(options: Partial<StaticPodsOptions>): StaticPods
  /** Writes NAME.json; it is seen within a second. */
  write(name: string, spec?: object, metadata?: object): Promise<void>
  remove(name: string): Promise<void>
  /** Lets time pass, seconds. */
  pass(seconds: number): Promise<void>
}

const directory = '/etc/rollcall/static-pods'
const net: Net = {
  http: () => Promise.reject(new Error('no network')),
  connect: () => Promise.reject(new Error('no network')),
}

/** The body of a test with static pods on simulated clock and disk, over a runtime without processes; leaves no timer. */
export function onSimulatedNode(run: (node: SimulatedNode) => Promise<void>): () => Promise<void> {
  return async () => {
    const node = await createSimulatedNode(createManualClock(Date.parse('2026-05-01T00:00:00Z')))
    try {
      await run(node)
    } finally {
      await node.pods.stop()
    }
    assert.equal(node.clock.pending(), 0, 'timers are left')
  }
}

export async function createSimulatedNode(clock: ManualClock): Promise<SimulatedNode> {
  const disk = asynchronousDisk(new MachineDisk(new SeededRandom('pods'), clock), async call => call())
  await disk.makeDirectory(directory, 0o755)
  const log = recordingLog()
  const runtime = createMemoryRuntime(clock)
  const hostAddress = () => '10.0.0.1'
  const another = (options: Partial<StaticPodsOptions>) =>
    new StaticPods({
      nodeName: 'node-a',
      directory,
      runtime,
      clock,
      random: seededRandom(1),
      disk,
      net,
      log,
      hostAddress,
      ...options,
    })
  const pods = another({})
  const container = { name: 'c', image: 'host', command: ['/bin/true'] }
  return {
    clock,
    disk,
    log,
    runtime,
    pods,
    another,
    async write(name, spec = {}, metadata = {}) {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, ...metadata },
        spec: { hostNetwork: true, containers: [container], ...spec },
      }
      await disk.write(`${directory}/${name}.json`, JSON.stringify(pod), { mode: 0o644 })
    },
    remove: name => disk.remove(`${directory}/${name}.json`),
    async pass(seconds) {
      // Steps small enough for files to be read between them.
      for (let left = seconds; left > 0; left -= 0.5) {
        await clock.advance(Math.min(left, 0.5) * 1000)
        for (let turn = 0; turn < 20; turn++) await settle()
      }
    },
  }
}
