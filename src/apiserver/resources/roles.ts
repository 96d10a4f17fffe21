import { type Role, resources } from '../../kube/types.ts'
import { createdAtColumn, nameColumn } from './columns.ts'
import { pathSegment } from './names.ts'
import { validateRules } from './rbac-rules.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

export const roles: StoredResource<Role> = {
  ...storedDefaults,
  ...resources.roles,
  singular: 'role',
  columns: [nameColumn, createdAtColumn],
  validate: ({ rules }) => validateRules(rules, true),
  validateUpdate: ({ rules }) => validateRules(rules, true),
  validateName: pathSegment,
  allowCreateOnUpdate: true,
}
