import type { KubeObject, ResourceRef } from '../kube/types.ts'
import { dropUnknownFields, unknownFields, wrongType } from './wire/openapi/check.ts'

/** What is known of the fields of each kind. */
export interface SchemaChecks {
  /** Why the object cannot be one of the kind, in the words of Go's JSON decoder. */
  wrongType(kind: Pick<ResourceRef, 'kind'>, object: KubeObject): string | undefined
  /** Paths of fields that the kind does not have. */
  unknownFields(kind: Pick<ResourceRef, 'kind'>, object: KubeObject): string[]
  /** Removes them. */
  dropUnknownFields(kind: Pick<ResourceRef, 'kind'>, object: KubeObject): void
}

/** The kinds of Kubernetes and Rollcall that are served. */
export const servedSchemas: SchemaChecks = { wrongType, unknownFields, dropUnknownFields }
