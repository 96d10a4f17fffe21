import { type RoleBinding, resources } from '../../kube/types.ts'
import { bindingColumns } from './binding-columns.ts'
import { pathSegment } from './names.ts'
import { defaultBinding, validateBinding, validateBindingUpdate } from './rbac-rules.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

export const roleBindings: StoredResource<RoleBinding> = {
  ...storedDefaults,
  ...resources.roleBindings,
  singular: 'rolebinding',
  columns: bindingColumns,
  prepareForCreate: defaultBinding,
  prepareForUpdate: defaultBinding,
  validate: binding => validateBinding(binding, true),
  validateUpdate: (next, previous) => validateBindingUpdate(next, previous, true),
  validateName: pathSegment,
  allowCreateOnUpdate: true,
}
