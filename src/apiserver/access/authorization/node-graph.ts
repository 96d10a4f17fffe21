/** What a node may read because of the pods that run on it; the seam for pods, which are not a resource yet. */

export type NodeGraphKind = 'secrets' | 'configmaps' | 'pods' | 'serviceaccounts' | 'resourceslices'

export interface NodeGraph {
  /** Whether a path leads from the object to the node, e.g. from a Secret through a pod bound to it. */
  related(node: string, kind: NodeGraphKind, namespace: string, name: string): boolean
}

/** Without pods no object is related to any node. */
export const emptyNodeGraph: NodeGraph = { related: () => false }
