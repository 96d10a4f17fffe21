import { type KubeObject, resources } from '../../kube/types.ts'
import { parseIp } from '../../x509/ip.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import { firstThree } from './more-items.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

interface EndpointSubset {
  addresses?: { ip?: string }[]
  notReadyAddresses?: { ip?: string }[]
  ports?: { name?: string; port?: number; protocol?: string }[]
}

interface Endpoints extends KubeObject {
  subsets?: EndpointSubset[]
}

function pairs({ subsets = [] }: Endpoints): string[] {
  return subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip = '' }) => ip)
      : ports.flatMap(({ port }) =>
          addresses.map(({ ip = '' }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)),
        ),
  )
}

// Unlike Kubernetes a loopback address is allowed: the embedded API itself listens on one.
function validateEndpoints({ subsets = [] }: Endpoints): FieldError[] {
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }, index) => {
    const field = `subsets[${index}]`
    const errors: FieldError[] = []
    if (addresses.length + notReadyAddresses.length === 0)
      errors.push(fieldError.required(field, 'must specify `addresses` or `notReadyAddresses`'))
    addresses.forEach(({ ip = '' }, at) => {
      if (!parseIp(ip)) {
        const text = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
        errors.push(fieldError.invalid(`${field}.addresses[${at}].ip`, ip, text))
      }
    })
    ports.forEach(({ name = '' }, at) => {
      if (name === '' && ports.length > 1) errors.push(fieldError.required(`${field}.ports[${at}].name`))
    })
    return errors
  })
}

function defaultProtocols({ subsets = [] }: Endpoints): void {
  for (const { ports = [] } of subsets) for (const port of ports) port.protocol ||= 'TCP'
}

export const endpoints: StoredResource<Endpoints> = {
  ...storedDefaults,
  ...resources.endpoints,
  singular: 'endpoints',
  shortNames: ['ep'],
  columns: [
    nameColumn,
    textColumn(
      'Endpoints',
      'The set of all endpoints is the union of all subsets. Addresses are placed into subsets according to the IPs they share.',
      object => firstThree(pairs(object), '<none>'),
    ),
    ageColumn,
  ],
  prepareForCreate: defaultProtocols,
  prepareForUpdate: defaultProtocols,
  validate: validateEndpoints,
  validateUpdate: validateEndpoints,
  allowCreateOnUpdate: true,
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
}
