/** Services, as far as nodes, DNS and kubectl read them: nothing here routes to them. */
import { resources } from '../../kube/types.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import { dns1035Label } from './names.ts'
import type { StoredResource } from './resource.ts'
import { allocateAddresses } from './service-addresses.ts'
import { clusterIp, externalIp, portList, type Service, selectorText } from './service-columns.ts'
import { serviceErrors, serviceUpdateErrors } from './service-rules.ts'
import { statusSubresource } from './status-subresource.ts'
import { storedDefaults } from './stored-defaults.ts'

const usesNodePorts = (type: string | undefined) => type === 'NodePort' || type === 'LoadBalancer'

/** SetDefaults_Service. */
function defaultService(service: Service): void {
  const { spec = {} } = service
  spec.sessionAffinity ||= 'None'
  spec.type ||= 'ClusterIP'
  if (spec.sessionAffinity === 'ClientIP') {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10_800 }, ...spec.sessionAffinityConfig }
  }
  spec.ports = spec.ports?.map(port => ({
    ...port,
    protocol: port.protocol || 'TCP',
    targetPort: port.targetPort || port.port || 0,
  })) as NonNullable<typeof spec.ports>
  if (usesNodePorts(spec.type)) spec.externalTrafficPolicy ||= 'Cluster'
  if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ||= 'Cluster'
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true
  service.spec = spec
}

export const services: StoredResource<Service> = {
  ...storedDefaults,
  ...resources.services,
  returnDeletedObject: true,
  singular: 'service',
  shortNames: ['svc'],
  categories: ['all'],
  columns: [
    nameColumn,
    textColumn(
      'Type',
      'type determines how the Service is exposed. Defaults to ClusterIP. Valid options are ExternalName, ClusterIP, NodePort, and LoadBalancer.',
      ({ spec }) => spec?.type ?? '',
    ),
    textColumn(
      'Cluster-IP',
      'clusterIP is the IP address of the service and is usually assigned randomly.',
      clusterIp,
    ),
    textColumn(
      'External-IP',
      'externalIPs is a list of IP addresses for which nodes in the cluster will also accept traffic for this service.',
      externalIp,
    ),
    textColumn('Port(s)', 'The list of ports that are exposed by this service.', ({ spec }) =>
      portList(spec?.ports),
    ),
    ageColumn,
    textColumn(
      'Selector',
      'Route service traffic to pods with label keys and values matching this selector.',
      ({ spec }) => selectorText(spec?.selector),
      1,
    ),
  ],
  prepareForCreate(service, { reader }) {
    defaultService(service)
    service.status = { loadBalancer: {} }
    allocateAddresses(service, reader?.list<Service>(resources.services) ?? [])
  },
  prepareForUpdate(next, previous, { reader }) {
    defaultService(next)
    // A client that sends none means the one that the service has.
    if (next.spec && previous.spec && next.spec.type !== 'ExternalName') {
      next.spec.clusterIP ||= previous.spec.clusterIP ?? ''
      if (!next.spec.clusterIPs?.length) next.spec.clusterIPs = [...(previous.spec.clusterIPs ?? [])]
    }
    next.status = structuredClone(previous.status ?? {})
    allocateAddresses(next, reader?.list<Service>(resources.services) ?? [])
  },
  validate: serviceErrors,
  validateUpdate: serviceUpdateErrors,
  validateName: dns1035Label,
  subresources: { status: statusSubresource<Service>() },
  selectableFields: [
    { path: 'spec.clusterIP', value: ({ spec }) => spec?.clusterIP ?? '' },
    { path: 'spec.type', value: ({ spec }) => spec?.type ?? '' },
  ],
}
