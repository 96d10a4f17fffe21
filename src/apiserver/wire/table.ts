/** The Table that kubectl prints: columns of the resource, cells of its objects. */
import type { KubeList, KubeObject } from '../../kube/types.ts'
import type { StoredResource } from '../resources/resource.ts'
import { apiError } from './api-error.ts'
import { partialObjectMetadata } from './partial-metadata.ts'

export type IncludeObject = 'None' | 'Metadata' | 'Object'

export interface TableOptions {
  /** Milliseconds since the epoch, for ages. */
  now: number
  /** What comes with each row; `Metadata` when absent. */
  includeObject?: IncludeObject
  /** Of the list, or resourceVersion of the one object. */
  listMeta?: KubeList['metadata']
  /** Absent or true: with columnDefinitions. In a watch only the first event has them. */
  includeColumns?: boolean
  version?: 'v1' | 'v1beta1'
}

/** The query parameter `includeObject`. Throws ApiError 400 for other values. */
export function includeObjectOf(parameter: string | null | undefined): IncludeObject {
  if (!parameter) return 'Metadata'
  if (parameter === 'None' || parameter === 'Metadata' || parameter === 'Object') return parameter
  throw apiError.badRequest(
    `includeObject: Invalid value: ${JSON.stringify(parameter)}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}

function rowObject(object: KubeObject, include: IncludeObject, version: 'v1' | 'v1beta1') {
  if (include === 'None') return {}
  return { object: include === 'Object' ? object : partialObjectMetadata(object, version) }
}

/** meta.k8s.io Table of the objects. */
export function tableOf(
  resource: Pick<StoredResource, 'columns'>,
  objects: readonly KubeObject[],
  { now, includeObject = 'Metadata', listMeta = {}, includeColumns = true, version = 'v1' }: TableOptions,
) {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: listMeta,
    columnDefinitions: includeColumns
      ? resource.columns.map(({ name, type, format = '', description, priority }) => ({
          name,
          type,
          format,
          description,
          priority,
        }))
      : null,
    rows: objects.map(object => ({
      cells: resource.columns.map(column => column.value(object, now)),
      ...rowObject(object, includeObject, version),
    })),
  }
}
