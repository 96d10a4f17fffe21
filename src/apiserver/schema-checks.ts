import type { StructuralSchema } from '../kube/rollcall/kind.ts'
import type { KubeObject, ResourceRef } from '../kube/types.ts'
import { pruneUnknownFields, structuralUnknownFields } from './custom/unknown-fields.ts'
import { dropEmptyFields, dropUnknownFields, fits, unknownFields, wrongType } from './wire/openapi/check.ts'

/** A kind whose fields openapi/types tells, or a custom resource's own schema. */
export type CheckedKind = Pick<ResourceRef, 'kind'> & { structural?: StructuralSchema }

/** What is known of the fields of each kind. */
export interface SchemaChecks {
  /** True: the other checks would find nothing, and nothing to drop. Absent, or false: they have to be asked. */
  fits?(kind: CheckedKind, object: KubeObject): boolean
  /** Why the object cannot be one of the kind, in the words of Go's JSON decoder. */
  wrongType(kind: CheckedKind, object: KubeObject): string | undefined
  /** Paths of fields that the kind does not have. */
  unknownFields(kind: CheckedKind, object: KubeObject): string[]
  /** Removes them. */
  dropUnknownFields(kind: CheckedKind, object: KubeObject): void
  /** Removes lists and maps without content where the kind may go without them. */
  dropEmptyFields(kind: CheckedKind, object: KubeObject): void
}

/** The rest of a custom resource is judged by its schema: 422 where other kinds have 400. */
const metadataAlone = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
  apiVersion,
  kind,
  metadata,
})
const anyKind = { kind: 'Namespace' }

/** The kinds of Kubernetes and Rollcall that are served. */
export const servedSchemas: SchemaChecks = {
  fits: (kind, object) => !kind.structural && fits(kind, object),
  wrongType: (kind, object) =>
    kind.structural ? wrongType(anyKind, metadataAlone(object)) : wrongType(kind, object),
  unknownFields: (kind, object) =>
    kind.structural
      ? [
          ...unknownFields(anyKind, metadataAlone(object)),
          ...structuralUnknownFields(kind.structural, object),
        ]
      : unknownFields(kind, object),
  dropUnknownFields(kind, object) {
    if (!kind.structural) return dropUnknownFields(kind, object)
    dropUnknownFields(anyKind, metadataAlone(object))
    pruneUnknownFields(kind.structural, object)
  },
  dropEmptyFields: (kind, object) =>
    kind.structural ? dropEmptyFields(anyKind, metadataAlone(object)) : dropEmptyFields(kind, object),
}
