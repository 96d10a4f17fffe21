import { isStatus, type KubeClient } from '../kube/client.ts'
import { type KubeNode, resources } from '../kube/types.ts'
import { missingLabels, type NodeFacts, newNode, statusPatch } from './node-object.ts'

/** Creates the Node, or takes over the one of this name (409) and gives it the labels it lacks. */
export async function registerNode(
  client: KubeClient,
  facts: NodeFacts,
  now: number,
  signal: AbortSignal,
): Promise<KubeNode> {
  try {
    return await client.create(resources.nodes, newNode(facts, now), { signal })
  } catch (error) {
    if (!isStatus(error, 'AlreadyExists')) throw error
  }
  const target = { name: facts.nodeName }
  const node = await client.get<KubeNode>(resources.nodes, target, signal)
  const labels = missingLabels(node, facts)
  return labels ? client.patch(resources.nodes, target, 'merge', { metadata: { labels } }, signal) : node
}

/** Brings the Node's status up to date where it is not, or where a report is due; resolves with the Node as it is then. */
export async function reportStatus(
  client: KubeClient,
  node: KubeNode,
  facts: NodeFacts,
  now: number,
  due: boolean,
  signal: AbortSignal,
): Promise<KubeNode> {
  const patch = statusPatch(node, facts, now, due)
  if (!patch) return node
  const target = { name: facts.nodeName, subresource: 'status' }
  return client.patch(resources.nodes, target, 'strategic-merge', patch, signal)
}
