/** Both sides in the form in which they are compared, where the order of things means nothing. */

import type { Symbols } from './compare.ts'

interface DiscoveredResource {
  resource: string
  subresources?: { subresource: string }[]
}
interface Discovery {
  items: {
    metadata: { name?: string }
    versions: { version: string; resources: DiscoveredResource[] }[]
  }[]
}

/** With subresources by name. */
function discovered({ subresources = [], ...resource }: DiscoveredResource) {
  return { ...resource, subresources: Object.fromEntries(subresources.map(one => [one.subresource, one])) }
}

function discoveredOf({ items }: Discovery): [string, DiscoveredResource][] {
  return items.flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.map((one): [string, DiscoveredResource] => [
        [metadata.name ?? '', version, one.resource].join('/'),
        one,
      ]),
    ),
  )
}

interface Rules {
  kind: 'SelfSubjectRulesReview'
  status: Record<'resourceRules' | 'nonResourceRules', unknown[]>
}

const isRules = (value: unknown): value is Rules =>
  (Object(value) as Partial<Rules>).kind === 'SelfSubjectRulesReview'

const textOf = (value: unknown) => JSON.stringify(value, Object.keys(Object(value)).sort())

/** Kubernetes goes through bindings in no order. */
function sorted({ status, ...review }: Rules) {
  const { resourceRules, nonResourceRules } = status
  const inOrder = (rules: unknown[]) => [...rules].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
  return {
    ...review,
    status: { ...status, resourceRules: inOrder(resourceRules), nonResourceRules: inOrder(nonResourceRules) },
  }
}

interface Named {
  metadata?: { name?: string }
  object?: Named
}
interface Lists {
  items?: Named[]
  rows?: Named[]
}

/** Lists are in order of names, which for generated ones is chance. */
function inOrderOfNames(list: Lists, symbols: Symbols): Lists {
  const nameOf = ({ metadata, object }: Named): string =>
    symbols.symbolOf(metadata?.name ?? object?.metadata?.name ?? '')
  const ordered = (all: Named[]) => [...all].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  return {
    ...list,
    ...(list.items && { items: ordered(list.items) }),
    ...(list.rows && { rows: ordered(list.rows) }),
  }
}

/** Of discovery only the resources that the recording keeps: those that are served here. */
export function comparable(
  recorded: unknown,
  text: string,
  symbols: Symbols,
): [recorded: unknown, ours: unknown] {
  if (typeof recorded === 'string') return [recorded, text]
  const ours: unknown = JSON.parse(text)
  if (isRules(recorded) && isRules(ours)) return [sorted(recorded), sorted(ours)]
  const { discovery } = Object(recorded) as { discovery?: Record<string, DiscoveredResource> }
  if (!discovery) return [inOrderOfNames(recorded as Lists, symbols), inOrderOfNames(ours as Lists, symbols)]
  const kept = discoveredOf(ours as Discovery).filter(([key]) => Object.hasOwn(discovery, key))
  const byName = (entries: [string, DiscoveredResource][]) =>
    Object.fromEntries(entries.map(([key, one]) => [key, discovered(one)]))
  return [byName(Object.entries(discovery)), byName(kept)]
}
