/** ValidateService, as far as the fields that anything here reads. */
import { parseIp } from '../../x509/ip.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { dns1123Label, dns1123Subdomain } from './names.ts'
import type { Service, ServicePort } from './service-columns.ts'

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const protocols = ['SCTP', 'TCP', 'UDP']
const affinities = ['ClientIP', 'None']

const isPort = (port: unknown) =>
  typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535

const portRange = 'must be between 1 and 65535, inclusive'

function portErrors(ports: readonly ServicePort[]): FieldError[] {
  return ports.flatMap((port, index) => {
    const field = `spec.ports[${index}]`
    const errors: FieldError[] = []
    const { name = '', protocol = '', targetPort } = port
    if (name === '' && ports.length > 1) errors.push(fieldError.required(`${field}.name`))
    if (name !== '') {
      for (const text of dns1123Label(name)) errors.push(fieldError.invalid(`${field}.name`, name, text))
      if (ports.findIndex(other => other.name === name) < index)
        errors.push(fieldError.duplicate(`${field}.name`, name))
    }
    if (!isPort(port.port)) errors.push(fieldError.invalid(`${field}.port`, port.port ?? 0, portRange))
    if (!protocols.includes(protocol))
      errors.push(fieldError.notSupported(`${field}.protocol`, protocol, protocols))
    if (typeof targetPort === 'number' && !isPort(targetPort))
      errors.push(fieldError.invalid(`${field}.targetPort`, targetPort, portRange))
    return errors
  })
}

export function serviceErrors({ spec = {} }: Service): FieldError[] {
  const errors: FieldError[] = []
  const { type = '', ports = [], clusterIP = '', externalName = '', sessionAffinity = '' } = spec
  if (!types.includes(type)) errors.push(fieldError.notSupported('spec.type', type, types))
  if (ports.length === 0 && clusterIP !== 'None' && type !== 'ExternalName')
    errors.push(fieldError.required('spec.ports'))
  if (type === 'ExternalName') {
    if (externalName === '') errors.push(fieldError.required('spec.externalName'))
    else
      for (const text of dns1123Subdomain(externalName))
        errors.push(fieldError.invalid('spec.externalName', externalName, text))
  }
  errors.push(...portErrors(ports))
  if (!affinities.includes(sessionAffinity))
    errors.push(fieldError.notSupported('spec.sessionAffinity', sessionAffinity, affinities))
  if (clusterIP !== '' && clusterIP !== 'None' && !parseIp(clusterIP)) {
    const text = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
    errors.push(fieldError.invalid('spec.clusterIPs[0]', clusterIP, text))
  }
  return errors
}

export function serviceUpdateErrors(next: Service, previous: Service): FieldError[] {
  const before = previous.spec?.clusterIP ?? ''
  const after = next.spec?.clusterIP ?? ''
  const kept = next.spec?.type === 'ExternalName' || previous.spec?.type === 'ExternalName'
  const errors = serviceErrors(next)
  if (!kept && before !== '' && before !== after)
    errors.unshift(fieldError.invalid('spec.clusterIPs[0]', after, 'may not change once set'))
  return errors
}
