/** Columns that many kinds share. Descriptions are those of Kubernetes' own tables. */
import type { KubeObject } from '../../kube/types.ts'
import { ageOf } from '../wire/human-duration.ts'
import type { Column } from './resource.ts'

const creationTimestamp =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed ' +
  'to be set in happens-before order across separate operations. Clients may not set this value. It is represented in ' +
  'RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: ' +
  'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata'

export const nameDescription =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a ' +
  'client to request the generation of an appropriate name automatically. Name is primarily intended for creation ' +
  'idempotence and configuration definition. Cannot be updated. More info: ' +
  'https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names'

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: nameDescription,
  priority: 0,
  value: object => object.metadata.name,
}

export const ageColumn: Column = {
  name: 'Age',
  type: 'string',
  description: creationTimestamp,
  priority: 0,
  value: (object, now) => ageOf(object.metadata.creationTimestamp, now),
}

/** RBAC's roles show the moment itself. */
export const createdAtColumn: Column = {
  name: 'Created At',
  type: 'date',
  description: creationTimestamp,
  priority: 0,
  value: object => object.metadata.creationTimestamp ?? '<unknown>',
}

/** A column of text. `priority` 1: only with -o wide. */
export function textColumn<T extends KubeObject>(
  name: string,
  description: string,
  value: (object: T, now: number) => string | number,
  priority: 0 | 1 = 0,
): Column<T> {
  return { name, type: 'string', description, priority, value }
}
