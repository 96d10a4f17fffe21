/**
 * CustomResourceDefinitions are read only: those of our own kinds (custom/put-definitions.ts), as on a cluster where
 * deploy/crds are applied. kubectl lists them to say of an unknown kind that it is not there.
 */
import { customResourceDefinitionRef } from '../../kube/rollcall/definition.ts'
import { createdAtColumn, nameColumn } from './columns.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

export const customResourceDefinitions: StoredResource = {
  ...storedDefaults,
  ...customResourceDefinitionRef,
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  verbs: ['get', 'list', 'watch'],
  columns: [nameColumn, createdAtColumn],
  subresources: {
    status: { verbs: ['get'], prepareForUpdate() {}, validateUpdate: () => [] },
  },
  hasGeneration: true,
}
