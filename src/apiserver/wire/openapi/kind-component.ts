/** The component of a resource's kind, whether openapi/types tells its fields or its own structural schema. */
import type { Resource } from '../../resources/resource.ts'
import { collectComponents, componentName, componentSchema, type GroupVersionKind } from './components.ts'
import { customComponentName, customSchema } from './custom-schema.ts'
import { schemaOf } from './schema.ts'

export const kindOf = ({ group, version, kind }: Resource): GroupVersionKind => ({ group, version, kind })

export const structuralOf = (resource: Resource) => (resource.stored ? resource.structural : undefined)

export function kindComponentName(resource: Resource): string {
  return structuralOf(resource) ? customComponentName(resource) : componentName(schemaOf(resource))
}

/** The kind's component and those that it refers to. */
export function collectKind(resource: Resource, into: Map<string, Record<string, unknown>>): void {
  const structural = structuralOf(resource)
  if (structural) {
    collectComponents('ObjectMeta', into)
    into.set(kindComponentName(resource), customSchema(structural, kindOf(resource)))
    return
  }
  collectComponents(resource.kind, into)
  into.set(kindComponentName(resource), componentSchema(schemaOf(resource), [kindOf(resource)]))
}
