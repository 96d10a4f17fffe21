import type { KubeList, KubeObject, ObjectMeta } from '../../kube/types.ts'

export interface PartialObjectMetadata extends KubeObject {
  kind: 'PartialObjectMetadata'
}

/** The object's metadata alone; `version` is that of meta.k8s.io. */
export function partialObjectMetadata(
  object: { metadata: ObjectMeta },
  version: 'v1' | 'v1beta1' = 'v1',
): PartialObjectMetadata {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata }
}

/** A list of metadata with the list's own metadata. */
export function partialObjectMetadataList(
  objects: readonly { metadata: ObjectMeta }[],
  listMeta: KubeList['metadata'],
  version: 'v1' | 'v1beta1' = 'v1',
) {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: listMeta,
    items: objects.map(object => partialObjectMetadata(object, version)),
  }
}
