/** Both sides in the form in which they are compared, where the order of things means nothing. */

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

/** Of discovery only the resources that the recording keeps: those that are served here. */
export function comparable(recorded: unknown, text: string): [recorded: unknown, ours: unknown] {
  if (typeof recorded === 'string') return [recorded, text]
  const ours: unknown = JSON.parse(text)
  if (isRules(recorded) && isRules(ours)) return [sorted(recorded), sorted(ours)]
  const { discovery } = Object(recorded) as { discovery?: Record<string, DiscoveredResource> }
  if (!discovery) return [recorded, ours]
  const kept = discoveredOf(ours as Discovery).filter(([key]) => Object.hasOwn(discovery, key))
  const byName = (entries: [string, DiscoveredResource][]) =>
    Object.fromEntries(entries.map(([key, one]) => [key, discovered(one)]))
  return [byName(Object.entries(discovery)), byName(kept)]
}
