/** A custom resource's structural schema as an OpenAPI component, as Kubernetes publishes those of CRDs. */
import type { StructuralSchema } from '../../../kube/rollcall/kind.ts'
import { type GroupVersionKind, reference } from './components.ts'

type Json = Record<string, unknown>

export const objectMetaComponent = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
export const metadataDescription =
  "Standard object's metadata. More info: " +
  'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata'

/** E.g. `dev.rollcall.v1alpha1.CertificatePolicy`. */
export function customComponentName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.')
}

/** OpenAPI v3; v2 is written from the same schema in v2.ts. */
export function customSchema(structural: StructuralSchema, kind: GroupVersionKind): Json {
  const metadata = { allOf: [reference(objectMetaComponent)], description: metadataDescription }
  return {
    ...structural,
    properties: { ...structural.properties, metadata },
    'x-kubernetes-group-version-kind': [kind],
  }
}
