/** Writes onto each Node what is known of its certificates, for `kubectl describe node` and whoever waits for a condition. */
import { isStatus, type KubeClient, listAll } from '../../kube/client.ts'
import { type KubeNode, resources } from '../../kube/types.ts'
import { type Clock, type Log, sleep } from '../../ports.ts'
import type { Leaf } from '../../sign/leaf.ts'
import { surveyCluster } from '../cluster-survey.ts'
import { changedConditions } from './certificate-conditions.ts'

export interface ConditionsOptions {
  client: KubeClient
  clock: Clock
  log: Log
  /** The ledger's leaves that live. */
  issued: AsyncIterable<Leaf>
  /** From the end of one look to the next. */
  intervalSeconds: number
}

/** Milliseconds between two writes: a fleet that was just found takes its time, and nobody else waits for it. */
const pace = 50

/** Each round looks at what is, and writes only what differs; a Node that is gone meanwhile is let go. */
export function startNodeConditions(options: ConditionsOptions): { stop(): Promise<void> } {
  const { clock, log, intervalSeconds } = options
  const stopping = new AbortController()
  const { signal } = stopping
  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await round(options, signal)
      } catch (error) {
        if (!signal.aborted) log.error('conditions of Nodes could not be written', { error: String(error) })
      }
      await sleep(clock, intervalSeconds * 1000, signal)
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}

async function round({ client, clock, issued }: ConditionsOptions, signal: AbortSignal): Promise<void> {
  const leaves: Leaf[] = []
  for await (const leaf of issued) leaves.push(leaf)
  const { items } = await listAll<KubeNode>(client, resources.nodes, {}, signal, withConditions)
  const { nodes } = surveyCluster(items, [], clock.now(), leaves)
  const known = new Map(nodes.map(node => [node.name, node]))
  for (const node of items) {
    const { name } = node.metadata
    const survey = known.get(name)
    const conditions = survey ? changedConditions(node, survey, clock.now()) : []
    if (conditions.length === 0) continue
    try {
      const target = { name, subresource: 'status' }
      await client.patch(resources.nodes, target, 'strategic-merge', { status: { conditions } }, signal)
    } catch (error) {
      if (!isStatus(error, 'NotFound')) throw error
    }
    await sleep(clock, pace, signal)
    if (signal.aborted) return
  }
}

/** 5,000 Nodes are 40 MB. */
const withConditions = ({ apiVersion, kind, metadata, status }: KubeNode): KubeNode => ({
  apiVersion,
  kind,
  metadata: { name: metadata.name },
  status: { ...(status?.conditions && { conditions: status.conditions }) },
})
