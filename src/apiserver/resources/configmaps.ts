import { type ConfigMap, resources } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import { base64Bytes, dataKeyComplaints, immutableErrors, maximumDataBytes } from './data-keys.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

function validateConfigMap({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  const errors: FieldError[] = []
  let bytes = 0
  for (const [key, value] of Object.entries(data)) {
    const field = `data[${key}]`
    for (const text of dataKeyComplaints(key)) errors.push(fieldError.invalid(field, key, text))
    if (Object.hasOwn(binaryData, key)) {
      errors.push(fieldError.invalid(field, key, 'duplicate of key present in binaryData'))
    }
    bytes += Buffer.byteLength(value)
  }
  for (const [key, value] of Object.entries(binaryData)) {
    for (const text of dataKeyComplaints(key))
      errors.push(fieldError.invalid(`binaryData[${key}]`, key, text))
    bytes += base64Bytes(value)
  }
  // Kubernetes names no field here: an empty path prints as `[]`.
  if (bytes > maximumDataBytes) errors.push(fieldError.tooLong('[]', maximumDataBytes))
  return errors
}

export const configMaps: StoredResource<ConfigMap> = {
  ...storedDefaults,
  ...resources.configMaps,
  singular: 'configmap',
  shortNames: ['cm'],
  columns: [
    nameColumn,
    textColumn(
      'Data',
      'Data contains the configuration data. Each key must consist of alphanumeric characters, ' +
        "'-', '_' or '.'.",
      ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length,
    ),
    ageColumn,
  ],
  validate: validateConfigMap,
  validateUpdate: (next, previous) => [
    ...immutableErrors(next, previous, ['data', 'binaryData']),
    ...validateConfigMap(next),
  ],
}
