/**
 * What the probes of the controller saw, for others to look at: 16 ConfigMaps kube-system/rollcall-serving-X, a line for
 * each node, written once a round. Their names are known beforehand, so that a role can let them be read and no others.
 */
import { createHash } from 'node:crypto'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { isRecord } from '../../kube/json.ts'
import { type ConfigMap, resources } from '../../kube/types.ts'
import type { ProbeTarget } from './probe-targets.ts'
import type { Seen } from './serving-state.ts'

const namespace = 'kube-system'
const digits = '0123456789abcdef'
export const publishedNames = [...digits].map(digit => `rollcall-serving-${digit}`)
const interval = 'rollcall.dev/interval-seconds'
/** Milliseconds: who looks more seldom than once a day tells nothing of now. */
const longest = 86_400_000
/** Bytes of lines in one ConfigMap, of the megabyte that Kubernetes lets it have: 16,000 nodes with an ordinary certificate. */
const most = 1_000_000

export interface PublishedProbe extends ProbeTarget, Seen {
  /** RFC 3339. */
  at: string
}

export interface PublishedProbes {
  /** Milliseconds from one look at a node to the next. */
  interval: number
  probes: PublishedProbe[]
}

/** Replaces what was told before. Where there is no room for all nodes, those are left out that present the most. */
export async function publishProbes(
  client: KubeClient,
  probes: readonly PublishedProbe[],
  intervalSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  const byName = Map.groupBy(probes, ({ node }) => nameFor(node))
  const annotations = { [interval]: String(intervalSeconds) }
  for (const name of publishedNames) {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, annotations } }
    const told = { ...map, data: linesOf(byName.get(name) ?? []) }
    try {
      const { metadata } = await client.get<ConfigMap>(resources.configMaps, { name, namespace }, signal)
      await client.update<ConfigMap>(
        resources.configMaps,
        { ...told, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } },
        { signal },
      )
    } catch (error) {
      if (!isStatus(error, 'NotFound')) throw error
      await client.create<ConfigMap>(resources.configMaps, told, { signal })
    }
  }
}

function linesOf(probes: readonly PublishedProbe[]): Record<string, string> {
  const lines = probes
    .map(({ node, ...seen }) => [node, JSON.stringify(seen)] as const)
    .sort(([, a], [, b]) => a.length - b.length)
  let left = most
  return Object.fromEntries(
    lines.filter(([node, line]) => {
      left -= node.length + line.length
      return left >= 0
    }),
  )
}

/** What was told last. Rejects with ApiStatusError NotFound where nobody probes, Forbidden without the right. */
export async function readPublishedProbes(client: KubeClient): Promise<PublishedProbes> {
  const [first = '', ...others] = publishedNames
  const read = (name: string) => client.get<ConfigMap>(resources.configMaps, { name, namespace })
  const began = await read(first)
  // What somebody deleted tells of no node until the next round.
  const lenient = (name: string) =>
    read(name).catch((error: unknown): ConfigMap => {
      if (!isStatus(error, 'NotFound')) throw error
      return { ...began, data: {} }
    })
  const maps = [began, ...(await Promise.all(others.map(lenient)))]
  const seconds = Number(began.metadata.annotations?.[interval])
  return {
    interval: seconds > 0 ? Math.min(seconds * 1000, longest) : 0,
    probes: maps.flatMap(({ data = {} }) =>
      Object.entries(data).flatMap(([node, line]) => readLine(node, line) ?? []),
    ),
  }
}

/** Milliseconds beyond two rounds after which nobody goes on looking. */
const slack = 10 * 60_000

/** Those that still tell of now, in milliseconds since the epoch; what claims to have been seen in the future does not. */
export function seenLately({ interval, probes }: PublishedProbes, now: number): PublishedProbe[] {
  return probes.filter(({ at }) => {
    const age = now - Date.parse(at)
    return age >= -slack && age <= 2 * interval + slack
  })
}

/** By the first digit of the name's SHA-256, so that nodes spread evenly whatever they are called. */
function nameFor(node: string): string {
  return `rollcall-serving-${createHash('sha256').update(node).digest('hex').charAt(0)}`
}

/** Undefined for a line that is none of ours. */
function readLine(node: string, line: string): PublishedProbe | undefined {
  const value = parse(line)
  if (!isRecord(value)) return undefined
  const { host, port, at, chain, failure } = value
  if (typeof host !== 'string' || typeof port !== 'number' || typeof at !== 'string') return undefined
  if (!Array.isArray(chain) || !chain.every(der => typeof der === 'string')) return undefined
  return { node, host, port, at, chain, ...(typeof failure === 'string' && { failure }) }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
