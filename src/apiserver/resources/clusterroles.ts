import { type ClusterRole, resources } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { createdAtColumn, nameColumn } from './columns.ts'
import { pathSegment } from './names.ts'
import { validateRules } from './rbac-rules.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

function validateClusterRole({ rules, aggregationRule }: ClusterRole): FieldError[] {
  const errors = validateRules(rules, false)
  if (aggregationRule && !aggregationRule.clusterRoleSelectors?.length) {
    errors.push(
      fieldError.required(
        'aggregationRule.clusterRoleSelectors',
        'at least one clusterRoleSelector required if aggregationRule is non-nil',
      ),
    )
  }
  return errors
}

export const clusterRoles: StoredResource<ClusterRole> = {
  ...storedDefaults,
  ...resources.clusterRoles,
  singular: 'clusterrole',
  columns: [nameColumn, createdAtColumn],
  validate: validateClusterRole,
  validateUpdate: validateClusterRole,
  validateName: pathSegment,
  allowCreateOnUpdate: true,
}
