import { isDeepStrictEqual } from 'node:util'
import { formatTime } from '../kube/time-format.ts'
import type { KubeNode, NodeAddress, NodeCondition } from '../kube/types.ts'

/** What the node says about itself. */
export interface NodeFacts {
  nodeName: string
  addresses: readonly NodeAddress[]
  /** Port of the HTTPS server; absent while there is none. */
  port?: number
  /** Laid over the defaults; `architecture` is GOARCH's word. */
  nodeInfo?: Readonly<Record<string, string>>
  labels?: Readonly<Record<string, string>>
}

/** The conditions of a healthy kubelet, in its order. */
const healthy: readonly Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>[] = [
  {
    type: 'MemoryPressure',
    status: 'False',
    reason: 'KubeletHasSufficientMemory',
    message: 'kubelet has sufficient memory available',
  },
  {
    type: 'DiskPressure',
    status: 'False',
    reason: 'KubeletHasNoDiskPressure',
    message: 'kubelet has no disk pressure',
  },
  {
    type: 'PIDPressure',
    status: 'False',
    reason: 'KubeletHasSufficientPID',
    message: 'kubelet has sufficient PID available',
  },
  { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
]

/** The Node that is posted at registration; `now` in milliseconds since the epoch. */
export function newNode(facts: NodeFacts, now: number): KubeNode {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: facts.nodeName, labels: labelsOf(facts) },
    spec: {},
    status: statusOf(facts, [], now),
  }
}

/** The labels a kubelet gives its Node; NodeRestriction lets it set these. */
function labelsOf(facts: NodeFacts): Record<string, string> {
  const { architecture = '' } = nodeInfoOf(facts)
  return {
    'kubernetes.io/hostname': facts.nodeName,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': architecture,
    ...facts.labels,
  }
}

function statusOf(
  facts: NodeFacts,
  previous: readonly NodeCondition[],
  now: number,
): KubeNode['status'] & object {
  return {
    addresses: [...facts.addresses],
    conditions: healthy.map(condition => {
      const before = previous.find(({ type }) => type === condition.type)
      const unchanged = before?.status === condition.status && before.lastTransitionTime !== undefined
      return {
        ...condition,
        lastHeartbeatTime: formatTime(now),
        lastTransitionTime: unchanged ? (before.lastTransitionTime ?? formatTime(now)) : formatTime(now),
      }
    }),
    ...(facts.port !== undefined && { daemonEndpoints: { kubeletEndpoint: { Port: facts.port } } }),
    nodeInfo: nodeInfoOf(facts),
  }
}

function nodeInfoOf({ nodeName, nodeInfo }: NodeFacts): Record<string, string> {
  return {
    machineID: nodeName,
    systemUUID: nodeName,
    bootID: nodeName,
    kernelVersion: '',
    osImage: 'Rollcall',
    containerRuntimeVersion: 'rollcall://0',
    kubeletVersion: 'v1.36.0+rollcall',
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
    ...nodeInfo,
  }
}

/**
 * The strategic merge patch of the Node's status that is to be sent: undefined when `node` already says all of it, unless
 * `due` (an unchanged status is reported every five minutes too). `now` in milliseconds since the epoch.
 */
export function statusPatch(node: KubeNode, facts: NodeFacts, now: number, due: boolean): object | undefined {
  const held = node.status ?? {}
  const wanted = statusOf(facts, held.conditions ?? [], now)
  if (!due && saysTheSame(held, wanted)) return undefined
  // W-3: addresses would be merged by type, so that an old one stayed; the kubelet replaces the list like this.
  return { status: { ...wanted, addresses: [...facts.addresses, { $patch: 'replace' }] } }
}

function saysTheSame(
  held: NonNullable<KubeNode['status']>,
  wanted: NonNullable<KubeNode['status']>,
): boolean {
  const bare = (conditions: readonly NodeCondition[] = []) =>
    conditions
      .filter(({ type }) => healthy.some(condition => condition.type === type))
      .map(({ type, status, reason }) => `${type} ${status} ${reason}`)
      .sort()
  return (
    isDeepStrictEqual(held.addresses ?? [], wanted.addresses) &&
    isDeepStrictEqual(bare(held.conditions), bare(wanted.conditions)) &&
    (wanted.daemonEndpoints === undefined ||
      isDeepStrictEqual(held.daemonEndpoints, wanted.daemonEndpoints)) &&
    Object.entries(wanted.nodeInfo ?? {}).every(([name, value]) => (held.nodeInfo?.[name] ?? '') === value)
  )
}

/** Labels that the Node lacks or has with another value; undefined when none. */
export function missingLabels(node: KubeNode, facts: NodeFacts): Record<string, string> | undefined {
  const missing = Object.entries(labelsOf(facts)).filter(
    ([name, value]) => node.metadata.labels?.[name] !== value,
  )
  return missing.length === 0 ? undefined : Object.fromEntries(missing)
}
