import { type RoleBinding, resources } from '../../kube/types.ts'
import { bindingColumns } from './binding-columns.ts'
import { pathSegment } from './names.ts'
import { defaultBinding, validateBinding, validateBindingUpdate } from './rbac-rules.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

export const clusterRoleBindings: StoredResource<RoleBinding> = {
  ...storedDefaults,
  ...resources.clusterRoleBindings,
  singular: 'clusterrolebinding',
  columns: bindingColumns,
  prepareForCreate: defaultBinding,
  prepareForUpdate: defaultBinding,
  validate: binding => validateBinding(binding, false),
  validateUpdate: (next, previous) => validateBindingUpdate(next, previous, false),
  validateName: pathSegment,
  allowCreateOnUpdate: true,
}
