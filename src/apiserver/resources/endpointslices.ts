import { type KubeObject, resources } from '../../kube/types.ts'
import { parseIp } from '../../x509/ip.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import { firstThree } from './more-items.ts'
import { dns1123Subdomain } from './names.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

interface EndpointSlice extends KubeObject {
  addressType?: string
  endpoints?: { addresses?: string[]; conditions?: { ready?: boolean } }[]
  ports?: { name?: string; port?: number; protocol?: string }[]
}

const addressTypes = ['FQDN', 'IPv4', 'IPv6']
const maximumEndpoints = 1000
const maximumAddresses = 100
const maximumPorts = 20_000

/** Complaints about one address; none when it is of the slice's type. */
function addressComplaints(address: string, type: string): string[] {
  if (type === 'FQDN') return dns1123Subdomain(address)
  const bytes = parseIp(address)
  const isOfType = bytes && address.includes(':') === (type === 'IPv6')
  return isOfType ? [] : [`must be an ${type} address`]
}

// Unlike Kubernetes a loopback address is allowed: the embedded API itself listens on one.
function validateSlice({ addressType = '', endpoints = [], ports = [] }: EndpointSlice): FieldError[] {
  const errors: FieldError[] = []
  if (addressType === '') errors.push(fieldError.required('addressType'))
  else if (!addressTypes.includes(addressType))
    errors.push(fieldError.notSupported('addressType', addressType, addressTypes))
  if (endpoints.length > maximumEndpoints)
    errors.push(fieldError.tooMany('endpoints', endpoints.length, maximumEndpoints))
  endpoints.forEach(({ addresses = [] }, index) => {
    const field = `endpoints[${index}].addresses`
    if (addresses.length === 0) errors.push(fieldError.required(field, 'must contain at least 1 address'))
    if (addresses.length > maximumAddresses)
      errors.push(fieldError.tooMany(field, addresses.length, maximumAddresses))
    addresses.forEach((address, at) => {
      for (const text of addressComplaints(address, addressType))
        errors.push(fieldError.invalid(`${field}[${at}]`, address, text))
    })
  })
  if (ports.length > maximumPorts) errors.push(fieldError.tooMany('ports', ports.length, maximumPorts))
  ports.forEach(({ name = '' }, index) => {
    if (ports.findIndex(other => (other.name ?? '') === name) < index)
      errors.push(fieldError.duplicate('ports', name))
  })
  return errors
}

function defaultPorts({ ports = [] }: EndpointSlice): void {
  for (const port of ports) {
    port.name ??= ''
    port.protocol ||= 'TCP'
  }
}

export const endpointSlices: StoredResource<EndpointSlice> = {
  ...storedDefaults,
  ...resources.endpointSlices,
  singular: 'endpointslice',
  columns: [
    nameColumn,
    textColumn(
      'AddressType',
      'addressType specifies the type of address carried by this EndpointSlice. All addresses in this slice must be the same type. This field is immutable after creation.',
      ({ addressType }) => addressType ?? '',
    ),
    textColumn(
      'Ports',
      'ports specifies the list of network ports exposed by each endpoint in this slice. Each port must have a unique name.',
      ({ ports = [] }) =>
        firstThree(
          ports.map(({ port, name }) => (port === undefined ? name || '*' : String(port))),
          '<unset>',
        ),
    ),
    textColumn(
      'Endpoints',
      'endpoints is a list of unique endpoints in this slice. Each slice may include a maximum of 1000 endpoints.',
      ({ endpoints = [] }) =>
        firstThree(
          endpoints.flatMap(({ addresses = [] }) => addresses),
          '<unset>',
        ),
    ),
    ageColumn,
  ],
  hasGeneration: true,
  prepareForCreate: defaultPorts,
  prepareForUpdate: defaultPorts,
  validate: validateSlice,
  validateUpdate: (next, previous) => [
    ...validateSlice(next),
    ...(next.addressType === previous.addressType
      ? []
      : [fieldError.invalid('addressType', next.addressType ?? '', 'field is immutable')]),
  ],
}
