import { type KubeObject, resources } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import { dns1123Label, dns1123Subdomain } from './names.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

export interface ResourceSlice extends KubeObject {
  spec?: {
    driver?: string
    pool?: { name?: string; generation?: number; resourceSliceCount?: number }
    nodeName?: string
    nodeSelector?: unknown
    allNodes?: boolean
    perDeviceNodeSelection?: boolean
    devices?: { name?: string }[]
  }
}

const maximumDevices = 128
const oneOf = '`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`'

/** At which nodes the devices are must be said in exactly one way. */
function selectionErrors({ spec = {} }: ResourceSlice): FieldError[] {
  const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection } = spec
  const chosen = [nodeName, nodeSelector, allNodes, perDeviceNodeSelection].filter(Boolean).length
  if (chosen === 1) return []
  const text = `exactly one of ${oneOf} is required`
  return chosen === 0
    ? [fieldError.required('spec', text)]
    : [fieldError.invalid('spec', `{${chosen} of ${oneOf}}`, text)]
}

function validateSlice(slice: ResourceSlice): FieldError[] {
  const { driver = '', pool = {}, devices = [] } = slice.spec ?? {}
  const errors: FieldError[] = []
  if (driver === '') errors.push(fieldError.required('spec.driver'))
  else
    for (const text of dns1123Subdomain(driver)) errors.push(fieldError.invalid('spec.driver', driver, text))
  if (!pool.name) errors.push(fieldError.required('spec.pool.name'))
  if ((pool.generation ?? 0) < 0) {
    const text = 'must be greater than or equal to zero'
    errors.push(fieldError.invalid('spec.pool.generation', pool.generation, text))
  }
  if ((pool.resourceSliceCount ?? 0) <= 0) {
    const text = 'must be greater than zero'
    errors.push(fieldError.invalid('spec.pool.resourceSliceCount', pool.resourceSliceCount ?? 0, text))
  }
  errors.push(...selectionErrors(slice))
  if (devices.length > maximumDevices)
    errors.push(fieldError.tooMany('spec.devices', devices.length, maximumDevices))
  devices.forEach(({ name = '' }, index) => {
    const field = `spec.devices[${index}].name`
    for (const text of dns1123Label(name)) errors.push(fieldError.invalid(field, name, text))
    if (devices.findIndex(other => other.name === name) < index)
      errors.push(fieldError.duplicate(field, name))
  })
  return errors
}

function validateUpdate(next: ResourceSlice, previous: ResourceSlice): FieldError[] {
  const fixed: [field: string, after: string, before: string][] = [
    ['spec.driver', next.spec?.driver ?? '', previous.spec?.driver ?? ''],
    ['spec.pool.name', next.spec?.pool?.name ?? '', previous.spec?.pool?.name ?? ''],
    ['spec.nodeName', next.spec?.nodeName ?? '', previous.spec?.nodeName ?? ''],
  ]
  return [
    ...validateSlice(next),
    ...fixed.flatMap(([field, after, before]) =>
      after === before ? [] : [fieldError.invalid(field, after, 'field is immutable')],
    ),
  ]
}

/** A kubelet deletes those of its node at its start, by spec.nodeName (6.2, line 8). */
export const resourceSlices: StoredResource<ResourceSlice> = {
  ...storedDefaults,
  ...resources.resourceSlices,
  singular: 'resourceslice',
  columns: [
    nameColumn,
    textColumn(
      'Node',
      'NodeName identifies the node which provides the resources in this pool.',
      ({ spec }) => spec?.nodeName ?? '',
    ),
    textColumn(
      'Driver',
      'Driver identifies the DRA driver providing the capacity information.',
      ({ spec }) => spec?.driver ?? '',
    ),
    textColumn(
      'Pool',
      'Pool describes the pool that this ResourceSlice belongs to.',
      ({ spec }) => spec?.pool?.name ?? '',
    ),
    ageColumn,
  ],
  hasGeneration: true,
  validate: validateSlice,
  validateUpdate,
  selectableFields: [
    { path: 'spec.nodeName', value: ({ spec }) => spec?.nodeName ?? '' },
    { path: 'spec.driver', value: ({ spec }) => spec?.driver ?? '' },
  ],
}
