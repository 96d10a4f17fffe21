/** What a node may read because of the pods that run on it. */
import { type KubeObject, resources } from '../../../kube/types.ts'
import type { ObjectReader } from '../../reader.ts'
import { type PodReferences, podReferences, type ReferringPod } from './pod-references.ts'

export type NodeGraphKind = 'secrets' | 'configmaps' | 'pods' | 'serviceaccounts' | 'resourceslices'

export interface NodeGraph {
  /** Whether a path leads from the object to the node, e.g. from a Secret through a pod bound to it. */
  related(node: string, kind: NodeGraphKind, namespace: string, name: string): boolean
}

type Slice = KubeObject & { spec?: { nodeName?: string } }

/** The graph of the current pods and slices; what pods refer to is read again only after a pod changed. */
export function createNodeGraph(reader: ObjectReader): NodeGraph {
  const index = cachedIndex(reader)
  return {
    related(node, kind, namespace, name) {
      if (kind === 'pods')
        return reader.get<ReferringPod>(resources.pods, name, namespace)?.spec?.nodeName === node
      if (kind === 'resourceslices')
        return reader.get<Slice>(resources.resourceSlices, name)?.spec?.nodeName === node
      return index().has(edge(node, kind, namespace, name))
    },
  }
}

/** No part can hold a slash. */
const edge = (node: string, kind: string, namespace: string, name: string) =>
  `${node}/${kind}/${namespace}/${name}`

const kinds = ['secrets', 'configmaps', 'serviceaccounts'] as const

function cachedIndex(reader: ObjectReader): () => ReadonlySet<string> {
  // A pod's object is a new one after every change, so most pods need not be looked into again.
  const known = new WeakMap<ReferringPod, PodReferences>()
  const referencesOf = (pod: ReferringPod) => {
    const references = known.get(pod) ?? podReferences(pod)
    known.set(pod, references)
    return references
  }
  let generation = -1
  let edges: ReadonlySet<string> = new Set()
  return () => {
    if (reader.generation(resources.pods) === generation) return edges
    generation = reader.generation(resources.pods)
    edges = new Set(reader.list<ReferringPod>(resources.pods).flatMap(pod => edgesOf(pod, referencesOf(pod))))
    return edges
  }
}

function edgesOf({ metadata, spec }: ReferringPod, references: PodReferences): string[] {
  const node = spec?.nodeName ?? ''
  if (node === '') return []
  return kinds.flatMap(kind => references[kind].map(name => edge(node, kind, metadata.namespace ?? '', name)))
}
