import { sameJson } from '../../kube/json.ts'
import { type KubeObject, resources } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import type { Column, StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

export interface CsiDriver extends KubeObject {
  spec?: {
    attachRequired?: boolean
    podInfoOnMount?: boolean
    storageCapacity?: boolean
    requiresRepublish?: boolean
    seLinuxMount?: boolean
    fsGroupPolicy?: string
    tokenRequests?: { audience?: string; expirationSeconds?: number }[]
    volumeLifecycleModes?: string[]
  }
}

const modes = ['Ephemeral', 'Persistent']
const fsGroupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']

function validateCsiDriver({ spec = {} }: CsiDriver): FieldError[] {
  const errors: FieldError[] = []
  spec.volumeLifecycleModes?.forEach((mode, index) => {
    if (!modes.includes(mode))
      errors.push(fieldError.notSupported(`spec.volumeLifecycleModes[${index}]`, mode, modes))
  })
  const { fsGroupPolicy = '', tokenRequests = [] } = spec
  if (!fsGroupPolicies.includes(fsGroupPolicy))
    errors.push(fieldError.notSupported('spec.fsGroupPolicy', fsGroupPolicy, fsGroupPolicies))
  tokenRequests.forEach(({ audience = '', expirationSeconds }, index) => {
    const field = `spec.tokenRequests[${index}]`
    if (tokenRequests.findIndex(other => (other.audience ?? '') === audience) < index)
      errors.push(fieldError.duplicate(`${field}.audience`, audience))
    if (expirationSeconds !== undefined && expirationSeconds < 600)
      errors.push(
        fieldError.invalid(
          `${field}.expirationSeconds`,
          expirationSeconds,
          'may not specify a duration less than 10 minutes',
        ),
      )
  })
  return errors
}

/** SetDefaults_CSIDriver. */
function defaultCsiDriver(driver: CsiDriver): void {
  driver.spec = {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    volumeLifecycleModes: ['Persistent'],
    requiresRepublish: false,
    seLinuxMount: false,
    ...driver.spec,
  }
}

const immutable = ['attachRequired', 'volumeLifecycleModes'] as const

function validateUpdate(next: CsiDriver, previous: CsiDriver): FieldError[] {
  const changed = immutable.filter(field => !sameJson(next.spec?.[field], previous.spec?.[field]))
  return [
    ...validateCsiDriver(next),
    ...changed.map(field =>
      fieldError.invalid(`spec.${field}`, next.spec?.[field] ?? null, 'field is immutable'),
    ),
  ]
}

type Switch = 'attachRequired' | 'podInfoOnMount' | 'storageCapacity' | 'requiresRepublish'

const switchColumn = (name: string, field: Switch, description: string): Column<CsiDriver> => ({
  name,
  type: 'boolean',
  description,
  priority: 0,
  value: ({ spec }) => spec?.[field] ?? false,
})

export const csiDrivers: StoredResource<CsiDriver> = {
  ...storedDefaults,
  ...resources.csiDrivers,
  returnDeletedObject: true,
  singular: 'csidriver',
  columns: [
    nameColumn,
    switchColumn(
      'AttachRequired',
      'attachRequired',
      'attachRequired indicates this CSI volume driver requires an attach operation.',
    ),
    switchColumn(
      'PodInfoOnMount',
      'podInfoOnMount',
      'podInfoOnMount indicates this CSI volume driver requires additional pod information during mount operations.',
    ),
    switchColumn(
      'StorageCapacity',
      'storageCapacity',
      'storageCapacity indicates that pod scheduling shall consider the storage capacity that the driver reports.',
    ),
    textColumn(
      'TokenRequests',
      "tokenRequests indicates the CSI driver needs pods' service account tokens it is mounting volume for.",
      ({ spec }) => spec?.tokenRequests?.map(({ audience }) => audience ?? '').join(',') ?? '<unset>',
    ),
    switchColumn(
      'RequiresRepublish',
      'requiresRepublish',
      'requiresRepublish indicates the CSI driver wants NodePublishVolume being periodically called.',
    ),
    textColumn(
      'Modes',
      'volumeLifecycleModes defines what kind of volumes this CSI volume driver supports.',
      ({ spec }) => spec?.volumeLifecycleModes?.join(',') || '<none>',
    ),
    ageColumn,
  ],
  prepareForCreate: defaultCsiDriver,
  prepareForUpdate: defaultCsiDriver,
  validate: validateCsiDriver,
  validateUpdate,
  allowUnconditionalUpdate: false,
}
