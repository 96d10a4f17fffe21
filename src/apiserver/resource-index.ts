import type { ResourcePath } from './request-info.ts'
import type { Resource } from './resources/resource.ts'

/** The served resources by what a path says. */
export interface ResourceIndex {
  all: readonly Resource[]
  find(path: Pick<ResourcePath, 'group' | 'version' | 'plural'>): Resource | undefined
  serves(group: string, version: string): boolean
}

export function indexResources(resources: readonly Resource[]): ResourceIndex {
  const keyOf = ({ group, version, plural }: Pick<ResourcePath, 'group' | 'version' | 'plural'>) =>
    `${group}/${version}/${plural}`
  const byPath = new Map(resources.map(resource => [keyOf(resource), resource]))
  const versions = new Set(resources.map(({ group, version }) => `${group}/${version}`))
  return {
    all: resources,
    find: path => byPath.get(keyOf(path)),
    serves: (group, version) => versions.has(`${group}/${version}`),
  }
}
