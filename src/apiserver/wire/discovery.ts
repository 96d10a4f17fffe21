/** Which groups, versions and resources there are: aggregated discovery (v2, v2beta1) and the legacy lists. */
import { createHash } from 'node:crypto'
import type { Resource } from '../resources/resource.ts'
import { connectedSubresources } from '../tunnel/connected-subresources.ts'
import { jsonDocument, type ServedDocument } from './document.ts'
import { type DiscoveryForm, discoveryContentType } from './negotiate.ts'

const versionName = (group: string, version: string) => (group === '' ? version : `${group}/${version}`)

const verbsOf = (resource: Resource): readonly string[] => (resource.stored ? resource.verbs : ['create'])

/** Stored resources by name, each with its subresources, as both forms list them. */
function sorted(resources: readonly Resource[]): Resource[] {
  return [...resources].sort((left, right) => (left.plural < right.plural ? -1 : 1))
}

interface ListedSubresource {
  name: string
  verbs: readonly string[]
  /** Where it is not the resource's own. */
  kind?: { group: string; version: string; kind: string }
}

function subresourcesOf(resource: Resource): ListedSubresource[] {
  if (!resource.stored) return []
  const { subresources, createdSubresources = {} } = resource
  return [
    ...Object.entries(subresources).map(([name, { verbs }]) => ({ name, verbs })),
    ...Object.entries(connectedSubresources(resource.group, resource.plural)).map(([name, connected]) => ({
      name,
      ...connected,
    })),
    ...Object.entries(createdSubresources).map(([name, { kind }]) => ({ name, verbs: ['create'], kind })),
  ].sort((left, right) => (left.name < right.name ? -1 : 1))
}

function names(resource: Resource) {
  if (!resource.stored) return {}
  const { shortNames, categories } = resource
  return {
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories && categories.length > 0 && { categories }),
  }
}

type Kind = Pick<Resource, 'group' | 'version' | 'kind'>

const isOfList = (resource: Kind, own: Kind) =>
  own.group === resource.group && own.version === resource.version

/** Group and version are empty where they are those of the list, as in Kubernetes. */
function responseKind(resource: Kind, own = resource): Kind {
  const { group, version, kind } = own
  return isOfList(resource, own) ? { group: '', version: '', kind } : { group, version, kind }
}

/** Tells clients whether two names are of one stored kind: base64 of the first 64 bits of SHA-256. */
function storageVersionHash({ group, version, kind }: Kind): string {
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
}

function aggregatedResource(resource: Resource) {
  const subresources = subresourcesOf(resource).map(({ name, verbs, kind }) => ({
    subresource: name,
    responseKind: responseKind(resource, kind),
    verbs,
  }))
  return {
    resource: resource.plural,
    responseKind: responseKind(resource),
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: verbsOf(resource),
    ...names(resource),
    ...(subresources.length > 0 && { subresources }),
  }
}

function legacyResources(resource: Resource) {
  const { namespaced, kind } = resource
  return [
    {
      name: resource.plural,
      singularName: resource.singular,
      namespaced,
      kind,
      verbs: verbsOf(resource),
      ...names(resource),
      ...(resource.stored && { storageVersionHash: storageVersionHash(resource) }),
    },
    ...subresourcesOf(resource).map(({ name, verbs, kind: own }) => ({
      name: `${resource.plural}/${name}`,
      singularName: '',
      namespaced,
      ...(own ? (isOfList(resource, own) ? { kind: own.kind } : own) : { kind }),
      verbs,
    })),
  ]
}

interface Group {
  name: string
  versions: readonly { version: string; resources: readonly Resource[] }[]
}

/** In the order in which the resources name them. */
function groupsOf(resources: readonly Resource[]): Group[] {
  const unique = (values: readonly string[]) => [...new Set(values)]
  return unique(resources.map(({ group }) => group)).map(name => {
    const own = resources.filter(({ group }) => group === name)
    return {
      name,
      versions: unique(own.map(({ version }) => version)).map(version => ({
        version,
        resources: sorted(own.filter(resource => resource.version === version)),
      })),
    }
  })
}

function aggregated(groups: readonly Group[], form: 'v2' | 'v2beta1'): ServedDocument {
  const items = groups.map(({ name, versions }) => ({
    metadata: name === '' ? {} : { name },
    versions: versions.map(({ version, resources }) => ({
      version,
      resources: resources.map(aggregatedResource),
      freshness: 'Current',
    })),
  }))
  const document = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${form}`,
    metadata: {},
    items,
  }
  return jsonDocument(document, discoveryContentType(form))
}

function legacyGroup({ name, versions }: Group) {
  const served = versions.map(({ version }) => ({ groupVersion: versionName(name, version), version }))
  return { name, versions: served, preferredVersion: served[0] }
}

function resourceList(group: string, version: string, resources: readonly Resource[]): ServedDocument {
  return jsonDocument({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: versionName(group, version),
    resources: resources.flatMap(legacyResources),
  })
}

/** Documents of the paths below /api and /apis; undefined for a path that is none of them. */
export type Discovery = (path: string, form: DiscoveryForm) => ServedDocument | undefined

/** All discovery documents, made once. Only `/api` and `/apis` have aggregated forms. */
export function discovery(resources: readonly Resource[]): Discovery {
  const groups = groupsOf(resources)
  const core = groups.filter(({ name }) => name === '')
  const named = groups.filter(({ name }) => name !== '')
  const documents = new Map<string, ServedDocument>()
  for (const form of ['v2', 'v2beta1'] as const) {
    documents.set(`/api ${form}`, aggregated(core, form))
    documents.set(`/apis ${form}`, aggregated(named, form))
  }
  const versions = core.flatMap(group => group.versions.map(({ version }) => version))
  documents.set(
    '/api',
    jsonDocument({
      kind: 'APIVersions',
      versions,
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '' }],
    }),
  )
  const groupList = { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(legacyGroup) }
  documents.set('/apis', jsonDocument(groupList))
  for (const group of groups) {
    const prefix = group.name === '' ? '/api' : `/apis/${group.name}`
    if (group.name !== '') {
      documents.set(prefix, jsonDocument({ kind: 'APIGroup', apiVersion: 'v1', ...legacyGroup(group) }))
    }
    for (const { version, resources: own } of group.versions) {
      documents.set(`${prefix}/${version}`, resourceList(group.name, version, own))
    }
  }
  return (path, form) => {
    const plain = path.replace(/\/+$/, '')
    return (form === 'legacy' ? undefined : documents.get(`${plain} ${form}`)) ?? documents.get(plain)
  }
}
