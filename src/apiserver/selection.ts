/** Which objects a list, watch or deletecollection is about. */
import {
  type FieldSelector,
  type LabelSelector,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  requiredValue,
  requireSupportedFields,
} from '../kube/selectors.ts'
import type { Call } from './call.ts'
import type { Stored } from './storage/store.ts'
import { keyOf, prefixOf, sharedObject } from './stored-object.ts'

export interface Selection {
  /** All keys of the collection asked for start with it. */
  prefix: string
  /** Set when the selector demands one name whose key is known: then only this key can match. */
  key?: string
  /** Whether a stored version matches; absent when the keys alone decide (nothing need be parsed). */
  matches?: (stored: Stored) => boolean
}

/** Throws RollcallError SELECTOR_INVALID (400). */
export function selectionOf({ resource, path, query }: Pick<Call, 'resource' | 'path' | 'query'>): Selection {
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '')
  const labels = parseLabelSelector(query.get('labelSelector') ?? '')
  requireSupportedFields(fields, resource)
  const namespace =
    path.namespace || (resource.namespaced && requiredValue(fields, 'metadata.namespace')) || ''
  const prefix = prefixOf(resource, resource.namespaced ? namespace : '')
  const name = requiredValue(fields, 'metadata.name')
  const key =
    name !== undefined && (!resource.namespaced || namespace) ? keyOf(resource, namespace, name) : undefined
  const rest = key === undefined ? fields : fields.filter(field => !decidedByKey(field))
  const matches = matcher(resource, rest, labels)
  return { prefix, ...(key !== undefined && { key }), ...(matches && { matches }) }
}

const decidedByKey = ({ path, operator }: FieldSelector[number]) =>
  operator === '=' && (path === 'metadata.name' || path === 'metadata.namespace')

function matcher(
  resource: Call['resource'],
  fields: FieldSelector,
  labels: LabelSelector,
): Selection['matches'] {
  if (fields.length === 0 && labels.length === 0) return undefined
  return stored => {
    const object = sharedObject(stored)
    return (
      matchesLabels(labels, object.metadata.labels) &&
      matchesFields(fields, object, resource.selectableFields)
    )
  }
}
