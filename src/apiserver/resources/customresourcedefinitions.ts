/**
 * CustomResourceDefinitions are those of our own kinds (custom/put-definitions.ts), as on a cluster where deploy/crds are
 * applied. Applying these very files changes nothing; others are refused, since nothing would serve their objects.
 */
import { sameJson } from '../../kube/json.ts'
import {
  type CustomResourceDefinition,
  customResourceDefinitionRef,
  servedDefinition,
} from '../../kube/rollcall/definition.ts'
import { rollcallKinds } from '../../kube/rollcall/index.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { createdAtColumn, nameColumn } from './columns.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

const builtIn =
  'the kinds of this server are built into it, those of rollcall.dev as its own version has them (rollcall.dev/v1alpha1); it serves no others, so remove this definition from what you apply'

function refused(): FieldError {
  return fieldError.forbidden('spec', builtIn)
}

export const customResourceDefinitions: StoredResource<CustomResourceDefinition> = {
  ...storedDefaults,
  ...customResourceDefinitionRef,
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch'],
  columns: [nameColumn, createdAtColumn],
  prepareForCreate: fillConversion,
  prepareForUpdate(next, previous) {
    fillConversion(next)
    if (previous.status) next.status = previous.status
  },
  validate({ metadata, spec }) {
    const served = rollcallKinds
      .map(kind => servedDefinition(kind, ''))
      .find(definition => definition.metadata.name === metadata.name)
    return served && sameJson(served.spec, spec) ? [] : [refused()]
  },
  validateUpdate: (next, previous) => (sameJson(next.spec, previous.spec) ? [] : [refused()]),
  subresources: {
    status: { verbs: ['get'], prepareForUpdate() {}, validateUpdate: () => [] },
  },
  hasGeneration: true,
}

/** Kubernetes' default. */
function fillConversion(definition: CustomResourceDefinition): void {
  definition.spec = { conversion: { strategy: 'None' }, ...definition.spec }
}
