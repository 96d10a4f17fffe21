import type { KubeClient } from '../../kube/client.ts'
import type { KubeNode } from '../../kube/types.ts'
import { readPublishedProbes, seenLately } from '../../survey/serving-probes/published-probes.ts'
import type { GatheredArtifacts } from '../artifacts/artifacts.ts'
import type { NodeProbe } from '../artifacts/endpoint-artifacts.ts'
import { attemptOptional } from './attempt.ts'
import type { LookAtTls } from './ports.ts'
import { mostProbes, suspects } from './suspects.ts'

/** Handshakes in flight. */
const parallel = 16
const kubeletPort = 10250

interface ProbeSurroundings {
  /** Whether the doctor itself is to look. */
  probe: boolean
  lookAtTls: LookAtTls
  /** Milliseconds since the epoch. */
  now: number
}

/**
 * What nodes serve: as a controller saw it that probes them, and where that was not lately, or the doctor looks itself, as
 * the doctor sees it. Of whom neither knows, nothing is said.
 */
export async function gatherProbes(
  client: KubeClient,
  { nodes, requests }: Pick<GatheredArtifacts, 'nodes' | 'requests'>,
  { probe, lookAtTls, now }: ProbeSurroundings,
): Promise<GatheredArtifacts['probes']> {
  if (nodes.status !== 'ok') return nodes
  const told = await attemptOptional(() => readPublishedProbes(client), 'controller --probe-nodes')
  if (told.status !== 'ok' && !probe)
    return told.status === 'absent'
      ? {
          status: 'notAsked',
          reason: 'asked for with --probe only, as no controller --probe-nodes tells them',
        }
      : told
  const there = new Set(nodes.value.map(({ metadata }) => metadata.name))
  const surveyed =
    told.status === 'ok' ? seenLately(told.value, now).filter(({ node }) => there.has(node)) : []
  const chosen = probe ? suspects(nodes.value, requests.status === 'ok' ? requests.value : [], surveyed) : []
  const own = await probeNodes(chosen, lookAtTls)
  const value = new Map([...surveyed, ...own].map(found => [found.node, found]))
  const missing = there.size - value.size
  const by = [
    ...(probe ? [`${own.length} now`] : []),
    ...(surveyed.length > 0 ? [`${surveyed.length} by controller --probe-nodes`] : []),
  ].join(', ')
  const partial = `${value.size} of ${there.size} nodes were looked at${by && `: ${by}`}; --probe looks at ${mostProbes}, those first that have reason to be`
  return { status: 'ok', value: [...value.values()], ...(missing > 0 && { partial }) }
}

/** Looks at the serving certificate of each node, at the address that kube-apiserver would dial (H-4). */
export async function probeNodes(nodes: readonly KubeNode[], lookAtTls: LookAtTls): Promise<NodeProbe[]> {
  const queue = nodes.flatMap(node => {
    const host = dialledAddress(node)
    const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port || kubeletPort
    return host === undefined ? [] : [{ node: node.metadata.name, host, port }]
  })
  const probes: NodeProbe[] = []
  async function work(): Promise<void> {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { node, host, port } = next
      probes.push({ node, ...(await lookAtTls({ host, port })) })
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  return probes.sort((a, b) => (a.node < b.node ? -1 : 1))
}

/** kubeadm's --kubelet-preferred-address-types, which metrics-server has by default as well. */
const preferredTypes = ['InternalIP', 'ExternalIP', 'Hostname']

function dialledAddress({ status }: KubeNode): string | undefined {
  const addresses = status?.addresses ?? []
  for (const type of preferredTypes) {
    const found = addresses.find(address => address.type === type)
    if (found) return found.address
  }
  return undefined
}
