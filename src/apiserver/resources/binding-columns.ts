import type { RbacSubject, RoleBinding } from '../../kube/types.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import type { Column } from './resource.ts'

const named = (kind: RbacSubject['kind'], text: (subject: RbacSubject) => string) => (binding: RoleBinding) =>
  (binding.subjects ?? [])
    .filter(subject => subject.kind === kind)
    .map(text)
    .join(', ')

/** Columns of RoleBindings and ClusterRoleBindings. */
export const bindingColumns: readonly Column<RoleBinding>[] = [
  nameColumn,
  textColumn(
    'Role',
    'RoleRef can only reference a ClusterRole in the global namespace or, for a RoleBinding, a Role in its own.',
    ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`,
  ),
  ageColumn,
  textColumn(
    'Users',
    'Users in the roleBinding',
    named('User', subject => subject.name),
    1,
  ),
  textColumn(
    'Groups',
    'Groups in the roleBinding',
    named('Group', subject => subject.name),
    1,
  ),
  textColumn(
    'ServiceAccounts',
    'ServiceAccounts in the roleBinding',
    named('ServiceAccount', subject => `${subject.namespace ?? ''}/${subject.name}`),
    1,
  ),
]
