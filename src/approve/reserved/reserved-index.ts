/** What the cluster's own objects keep for themselves, object by object. */
import { objectKey } from '../../kube/object-cache.ts'
import type { KubeObject } from '../../kube/types.ts'
import { canonicalAddress } from '../canonical-name.ts'
import type { Reservation, ReservedAddresses } from '../facts.ts'
import { IpPrefixes, rangeOrNone } from '../ip-prefixes.ts'
import type { EndpointSlice, Service, ServiceCidr } from './cluster-objects.ts'

/** By name or address in canonical form. */
export type Reservations = ReadonlyMap<string, Reservation>

export class ReservedIndex implements ReservedAddresses {
  readonly #reservations = new Map<string, Reservations>()
  /** By name or address: the objects that reserve it. */
  readonly #holders = new Map<string, Set<string>>()
  readonly #ranges = new IpPrefixes()

  set(object: KubeObject, reservations: Reservations): void {
    this.remove(object)
    const key = keyOf(object)
    this.#reservations.set(key, reservations)
    for (const [canonical] of reservations) {
      const range = rangeOrNone(canonical)
      const holders = this.#holders.get(canonical) ?? new Set()
      if (range) this.#ranges.add(range, canonical)
      this.#holders.set(canonical, holders.add(key))
    }
  }

  remove(object: KubeObject): void {
    const key = keyOf(object)
    for (const [canonical] of this.#reservations.get(key) ?? []) {
      const holders = this.#holders.get(canonical)
      holders?.delete(key)
      if (holders?.size !== 0) continue
      this.#holders.delete(canonical)
      const range = rangeOrNone(canonical)
      if (range) this.#ranges.remove(range, canonical)
    }
    this.#reservations.delete(key)
  }

  find(canonical: string, bytes?: Uint8Array): Reservation | undefined {
    const ranges = bytes ? this.#ranges.ownersOf(bytes) : []
    const found = [canonical, ...ranges].flatMap(name =>
      [...(this.#holders.get(name) ?? [])].flatMap(key => this.#reservations.get(key)?.get(name) ?? []),
    )
    return found.sort((a, b) => strictness[b.kind] - strictness[a.kind] || (a.what < b.what ? -1 : 1))[0]
  }
}

const strictness: Record<Reservation['kind'], number> = { own: 2, apiServer: 1, published: 0 }
const keyOf = (object: KubeObject) => `${object.kind} ${objectKey(object)}`

export function reservedByService(service: Service): Reservations {
  const { clusterIP = '', clusterIPs = [], externalIPs = [], loadBalancerIP = '' } = service.spec ?? {}
  const ingress = service.status?.loadBalancer?.ingress ?? []
  const name = `Service ${objectKey(service)}`
  return new Map([
    ...ingress.flatMap(({ ip, hostname }) =>
      entries([ip, hostname], 'published', `the load balancer of ${name}`),
    ),
    ...entries([loadBalancerIP], 'published', `the load balancer of ${name}`),
    ...entries(externalIPs, 'published', `an external IP of ${name}`),
    ...entries(
      [clusterIP, ...clusterIPs].filter(ip => ip !== 'None'),
      'own',
      `the cluster IP of ${name}`,
    ),
  ])
}

export function reservedByEndpoints(slice: EndpointSlice): Reservations {
  const addresses = slice.endpoints?.flatMap(endpoint => endpoint.addresses ?? []) ?? []
  return new Map(entries(addresses, 'apiServer', 'the address of an API server'))
}

export function reservedByServiceCidr({ metadata, spec }: ServiceCidr): Reservations {
  const ranges = spec?.cidrs?.filter(text => rangeOrNone(text)) ?? []
  return new Map(
    ranges.map(text => [
      text,
      { kind: 'own', what: `in the service range ${text} (ServiceCIDR ${metadata.name})` },
    ]),
  )
}

function entries(
  names: readonly (string | undefined)[],
  kind: Reservation['kind'],
  what: string,
): [string, Reservation][] {
  return names.flatMap(name => (name ? [[canonicalAddress(name).text, { kind, what }]] : []))
}
