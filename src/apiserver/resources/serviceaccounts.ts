import { type KubeObject, resources } from '../../kube/types.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'
import { tokenRequests } from './token-requests.ts'

interface ServiceAccount extends KubeObject {
  secrets?: { name?: string }[]
}

export const serviceAccounts: StoredResource<ServiceAccount> = {
  ...storedDefaults,
  ...resources.serviceAccounts,
  returnDeletedObject: true,
  singular: 'serviceaccount',
  shortNames: ['sa'],
  columns: [
    nameColumn,
    textColumn(
      'Secrets',
      'Secrets is a list of the secrets in the same namespace that pods running using this ServiceAccount are allowed to use.',
      ({ secrets }) => secrets?.length ?? 0,
    ),
    ageColumn,
  ],
  createdSubresources: { token: tokenRequests },
}
