import type { RollcallKind, StructuralSchema } from './kind.ts'

const text = (description: string): StructuralSchema => ({ type: 'string', description })

const apiVersion = text(
  'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized ' +
    'schemas to the latest internal value, and may reject unrecognized values. More info: ' +
    'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources',
)
const kindField = text(
  'Kind is a string value representing the REST resource this object represents. Servers may infer this from the ' +
    'endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ' +
    'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds',
)

/** The schema of whole objects of a kind, as it stands in a CustomResourceDefinition. */
export function objectSchema({ description, spec, status }: RollcallKind): StructuralSchema {
  return {
    type: 'object',
    description,
    properties: {
      apiVersion,
      kind: kindField,
      metadata: { type: 'object' },
      spec,
      ...(status && { status }),
    },
    // Else a spec that is left out would lack what every spec must have.
    ...(spec.required?.length && { required: ['spec'] }),
  }
}
