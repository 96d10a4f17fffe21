/** Requests against a running `up` while its CA changes: every one counts, none is repeated. */
import { type KubeNode, resources } from '../../kube/types.ts'
import { sleep } from '../../ports.ts'
import { hostPorts } from '../host-ports.ts'
import { followingClient } from './following-client.ts'
import { clientOf, type RunningUpFiles } from './running-up.ts'

export interface LoadReport {
  requests: number
  failed: number
  /** Why, each reason once. */
  reasons: readonly string[]
  /** Nodes that were not Ready at some moment. */
  lost: readonly string[]
}

export interface DemoLoad {
  report(): LoadReport
  /** How many of the nodes answer now, asked through the API and so by its own certificates. */
  answering(): Promise<number>
  stop(): Promise<LoadReport>
}

/** Milliseconds between two requests of one client. */
const pause = 25
/** Milliseconds between two looks at the nodes. */
const lookEvery = 500

/**
 * Three kinds of clients: some that start anew for each request, as kubectl does; one that keeps its connection and reads
 * its kubeconfig when that changes; one that goes through the API to every node in turn.
 */
export function startDemoLoad(up: RunningUpFiles, names: readonly string[]): DemoLoad {
  const { clock } = hostPorts
  const stopping = new AbortController()
  const path = up.paths.adminKubeconfig
  const reasons = new Set<string>()
  const lost = new Set<string>()
  let requests = 0
  let failed = 0
  const kept = followingClient(path, 'rollcall-demo-kept')
  const through = followingClient(path, 'rollcall-demo-nodes')

  async function counted(work: () => Promise<unknown>): Promise<boolean> {
    requests += 1
    try {
      await work()
      return true
    } catch (error) {
      failed += 1
      const why = error instanceof Error ? error.message : String(error)
      if (reasons.size < 5) reasons.add(why)
      return false
    }
  }

  async function again(every: number, work: (round: number) => Promise<unknown>): Promise<void> {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      await work(round)
      await sleep(clock, every, stopping.signal)
    }
  }

  async function asKubectl(): Promise<void> {
    await counted(async () => {
      const { client, transport } = await clientOf(path)
      try {
        await client.list(resources.nodes, { limit: 1 })
      } finally {
        transport.closeConnections()
      }
    })
  }

  async function look(): Promise<void> {
    await counted(async () => {
      const { items } = await kept.client.list<KubeNode>(resources.nodes)
      for (const { metadata, status } of items) {
        const ready = status?.conditions?.find(({ type }) => type === 'Ready')
        if (ready?.status !== 'True') lost.add(metadata.name)
      }
    })
  }

  const askNode = (name: string) => counted(() => through.client.raw(`/api/v1/nodes/${name}/proxy/healthz`))
  const running = Promise.all([
    again(pause, asKubectl),
    again(pause * 3, asKubectl),
    again(lookEvery, look),
    again(pause, round => askNode(names[round % names.length] ?? '')),
  ])
  const report = () => ({ requests, failed, reasons: [...reasons], lost: [...lost] })
  return {
    report,
    async answering() {
      const answers = await Promise.all(names.map(askNode))
      return answers.filter(Boolean).length
    },
    async stop() {
      stopping.abort()
      await running
      kept.transport.closeConnections()
      through.transport.closeConnections()
      return report()
    },
  }
}
