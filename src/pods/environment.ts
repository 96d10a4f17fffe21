import type { Container, StaticPod } from './pod.ts'

export interface NodeFacts {
  nodeName: string
  /** The node's own address; undefined: it knows none. */
  hostAddress: string | undefined
  /** Of a pod with a network of its own, once it has one. */
  podAddress?: string | undefined
}

/** The variables that a container declares, in order: later ones see earlier ones as `$(NAME)`. */
export function environmentOf(container: Container, pod: StaticPod, node: NodeFacts): Record<string, string> {
  const environment: Record<string, string> = {}
  for (const { name, value, valueFrom } of container.env ?? []) {
    const field = valueFrom?.fieldRef?.fieldPath
    environment[name] = field === undefined ? expand(value ?? '', environment) : fieldOf(field, pod, node)
  }
  return environment
}

/** command and args with `$(NAME)` replaced. */
export function commandLineOf(
  { command = [], args = [] }: Container,
  environment: Readonly<Record<string, string>>,
): string[] {
  return expandAll([...command, ...args], environment)
}

/** Words with `$(NAME)` replaced. */
export function expandAll(
  words: readonly string[] = [],
  environment: Readonly<Record<string, string>>,
): string[] {
  return words.map(word => expand(word, environment))
}

/** Kubernetes' expansion: `$(NAME)` of a known variable, `$$` is a `$`, everything else stays as it is. */
export function expand(text: string, environment: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) => {
    if (name === undefined) return '$'
    return Object.hasOwn(environment, name) ? (environment[name] ?? '') : whole
  })
}

/** What a fieldRef means. */
export function fieldOf(path: string, { metadata, spec }: StaticPod, node: NodeFacts): string {
  const keyed = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(path)
  if (keyed) return metadata[keyed[1] === 'labels' ? 'labels' : 'annotations']?.[keyed[2] ?? ''] ?? ''
  const fields: Record<string, string | undefined> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
    'spec.nodeName': spec.nodeName ?? node.nodeName,
    'status.hostIP': node.hostAddress,
    'status.podIP': spec.hostNetwork ? node.hostAddress : node.podAddress,
  }
  return fields[path] ?? ''
}
