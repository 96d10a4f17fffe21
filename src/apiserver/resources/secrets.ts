import { resources, type Secret as SecretObject } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import { base64Bytes, dataKeyComplaints, immutableErrors, maximumDataBytes } from './data-keys.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

interface Secret extends SecretObject {
  immutable?: boolean
}

const serviceAccountName = 'kubernetes.io/service-account.name'

/** Keys that a type demands; of basic-auth one is enough. Bootstrap tokens are checked where they are used. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
}

function holdsJson(value: string | undefined): boolean {
  try {
    JSON.parse(Buffer.from(value ?? '', 'base64').toString())
    return true
  } catch {
    return false
  }
}

function validateType({ type = '', data = {}, metadata }: Secret): FieldError[] {
  const keys = Object.hasOwn(requiredKeys, type) ? (requiredKeys[type] ?? []) : []
  const missing = keys
    .filter(key => !Object.hasOwn(data, key))
    .map(key => fieldError.required(`data[${key}]`))
  if (type === 'kubernetes.io/dockercfg' || type === 'kubernetes.io/dockerconfigjson') {
    const [key = ''] = keys
    if (missing.length > 0 || holdsJson(data[key])) return missing
    // The value never goes into the answer.
    return [fieldError.invalid(`data[${key}]`, '<secret contents redacted>', 'invalid character in JSON')]
  }
  if (type === 'kubernetes.io/service-account-token' && !metadata.annotations?.[serviceAccountName]) {
    return [fieldError.required(`metadata.annotations[${serviceAccountName}]`)]
  }
  if (type === 'kubernetes.io/basic-auth' && !('username' in data) && !('password' in data)) {
    return [fieldError.required('data[username]'), fieldError.required('data[password]')]
  }
  return missing
}

function validateSecret(secret: Secret): FieldError[] {
  const errors: FieldError[] = []
  let bytes = 0
  for (const [key, value] of Object.entries(secret.data ?? {})) {
    for (const text of dataKeyComplaints(key)) errors.push(fieldError.invalid(`data[${key}]`, key, text))
    bytes += base64Bytes(value)
  }
  if (bytes > maximumDataBytes) errors.push(fieldError.tooLong('data', maximumDataBytes))
  return [...errors, ...validateType(secret)]
}

/** stringData is only ever written: its values go over those of data. */
function foldStringData(secret: Secret): void {
  const { stringData } = secret
  delete secret.stringData
  if (!stringData || Object.keys(stringData).length === 0) return
  secret.data = { ...secret.data }
  for (const [key, value] of Object.entries(stringData)) {
    secret.data[key] = Buffer.from(value).toString('base64')
  }
}

export const secrets: StoredResource<Secret> = {
  ...storedDefaults,
  ...resources.secrets,
  singular: 'secret',
  columns: [
    nameColumn,
    textColumn('Type', 'Used to facilitate programmatic handling of secret data.', ({ type }) => type ?? ''),
    textColumn('Data', 'Data contains the secret data.', ({ data = {} }) => Object.keys(data).length),
    ageColumn,
  ],
  prepareForCreate(secret) {
    foldStringData(secret)
    secret.type ||= 'Opaque'
  },
  prepareForUpdate(next, previous) {
    foldStringData(next)
    next.type ||= previous.type ?? 'Opaque'
  },
  validate: validateSecret,
  validateUpdate: (next, previous) => [
    ...(next.type === previous.type ? [] : [fieldError.invalid('type', next.type, 'field is immutable')]),
    ...immutableErrors(next, previous, ['data']),
    ...validateSecret(next),
  ],
  selectableFields: [{ path: 'type', value: ({ type }) => type ?? '' }],
}
