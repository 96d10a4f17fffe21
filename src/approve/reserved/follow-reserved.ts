/** Keeps what belongs to the cluster itself: Services, service ranges, and the endpoints of the API servers. */
import type { ReflectorOptions } from '../../kube/reflector.ts'
import type { KubeObject, ResourceRef } from '../../kube/types.ts'
import {
  type EndpointSlice,
  endpointSlices,
  type Service,
  type ServiceCidr,
  serviceCidrs,
  services,
} from './cluster-objects.ts'
import { type Following, followWhereReadable } from './follow-where-readable.ts'
import {
  type Reservations,
  ReservedIndex,
  reservedByEndpoints,
  reservedByService,
  reservedByServiceCidr,
} from './reserved-index.ts'

type Shared = Pick<ReflectorOptions<KubeObject>, 'client' | 'clock' | 'random' | 'log'> & {
  watchTimeoutSeconds?: number | undefined
}

/** The API servers keep their own addresses in it (kubernetes.default). */
const apiServers = { namespace: 'default', labelSelector: 'kubernetes.io/service-name=kubernetes' }

export function followReserved(shared: Shared): Following & { index: ReservedIndex } {
  const index = new ReservedIndex()
  const follow = <T extends KubeObject>(
    resource: ResourceRef,
    reservations: (object: T) => Reservations,
    selectors?: ReflectorOptions<T>['selectors'],
  ) =>
    followWhereReadable<T>({
      client: shared.client,
      clock: shared.clock,
      random: shared.random,
      log: shared.log,
      resource,
      ...(selectors && { selectors }),
      ...(shared.watchTimeoutSeconds && { watchSeconds: shared.watchTimeoutSeconds }),
      onChange(type, object) {
        if (type === 'DELETED') index.remove(object)
        else index.set(object, reservations(object))
      },
    })
  const all = [
    follow<Service>(services, reservedByService),
    follow<EndpointSlice>(endpointSlices, reservedByEndpoints, apiServers),
    follow<ServiceCidr>(serviceCidrs, reservedByServiceCidr),
  ]
  return {
    index,
    settled: Promise.all(all.map(({ settled }) => settled)).then(() => {}),
    async stop() {
      await Promise.all(all.map(following => following.stop()))
    },
  }
}
