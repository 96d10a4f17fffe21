/** The CustomResourceDefinition of a kind of ours: what makes a real cluster serve it. */
import type { KubeObject, ResourceRef } from '../types.ts'
import type { RollcallKind } from './kind.ts'
import { objectSchema } from './object-schema.ts'

export const customResourceDefinitionRef: ResourceRef = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
}

export interface CustomResourceDefinition extends KubeObject {
  spec: Record<string, unknown> & { names: Record<string, unknown> }
  status?: Record<string, unknown>
}

export function definitionOf(kind: RollcallKind): CustomResourceDefinition {
  const { ref, singular, shortNames, columns, status } = kind
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${ref.plural}.${ref.group}` },
    spec: {
      group: ref.group,
      names: {
        plural: ref.plural,
        singular,
        kind: ref.kind,
        listKind: `${ref.kind}List`,
        ...(shortNames.length > 0 && { shortNames }),
      },
      scope: ref.namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: ref.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: objectSchema(kind) },
          ...(status && { subresources: { status: {} } }),
          ...(columns.length > 0 && { additionalPrinterColumns: columns }),
        },
      ],
    },
  }
}

/** As a server that serves the kind since `since` (RFC 3339) shows it: with defaults and status. */
export function servedDefinition(kind: RollcallKind, since: string): CustomResourceDefinition {
  const definition = definitionOf(kind)
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: 'True',
    lastTransitionTime: since,
    reason,
    message,
  })
  return {
    ...definition,
    spec: { ...definition.spec, conversion: { strategy: 'None' } },
    status: {
      acceptedNames: definition.spec.names,
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ],
      storedVersions: [kind.ref.version],
    },
  }
}
