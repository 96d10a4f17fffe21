/** What requests of a cluster are judged by, read once. What may not be read is among `unchecked`. */
import type { EvidenceProvider } from '../../approve/evidence/provider.ts'
import type { Protection } from '../../approve/facts.ts'
import { Inventory } from '../../approve/inventory/inventory.ts'
import { parseInventory } from '../../approve/inventory/parse-inventory.ts'
import type { ApprovalPolicy, InventoryLocation } from '../../approve/policy.ts'
import { policyOf } from '../../approve/policy-presets.ts'
import {
  type EndpointSlice,
  endpointSlices,
  type Service,
  type ServiceCidr,
  serviceCidrs,
  services,
} from '../../approve/reserved/cluster-objects.ts'
import {
  type Reservations,
  ReservedIndex,
  reservedByEndpoints,
  reservedByService,
  reservedByServiceCidr,
} from '../../approve/reserved/reserved-index.ts'
import { hasCode } from '../../errors.ts'
import { inForce } from '../../kube/admission/in-force.ts'
import { nodeAddressProtection } from '../../kube/admission/shipped.ts'
import {
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from '../../kube/admission/validating-policy.ts'
import { isStatus, type KubeClient, listAll } from '../../kube/client.ts'
import type { CertificatePolicy } from '../../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies, policyInForce, problemsOf } from '../../kube/rollcall/certificate-policy.ts'
import {
  type ConfigMap,
  type KubeNode,
  type KubeObject,
  type ResourceRef,
  resources,
} from '../../kube/types.ts'
import { type Surroundings, sourcesElsewhere } from './judging.ts'

type Attempt = <T>(what: string, work: () => Promise<T>) => Promise<T | undefined>

/** Reads what is there; what is forbidden, or not served, is told and left out. */
function attemptInto(unchecked: string[]): Attempt {
  return async (what, work) => {
    try {
      return await work()
    } catch (error) {
      if (!isStatus(error, 'Forbidden') && !isStatus(error, 'NotFound')) throw error
      unchecked.push(`${what}: ${error.status.message ?? error.status.reason}`)
      return undefined
    }
  }
}

/** The policy by which this cluster's controllers judge, as it is stored; undefined: there is none that can be used. */
export async function storedPolicy(client: KubeClient): Promise<ApprovalPolicy | undefined> {
  try {
    const { spec } = await client.get<CertificatePolicy>(certificatePolicies, { name: policyInForce })
    return problemsOf(policyInForce, spec ?? {}, 'resource').length > 0 ? undefined : policyOf(spec)
  } catch (error) {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  }
}

/** `policies`: those that will be asked, for their inventories. */
export async function clusterSurroundings(
  client: KubeClient,
  policies: readonly (ApprovalPolicy | undefined)[],
): Promise<Surroundings> {
  const unchecked: string[] = []
  const attempt = attemptInto(unchecked)
  const nodes = await attempt('Nodes', () => listAll<KubeNode>(client, resources.nodes))
  const reserved = await readReserved(client, attempt)
  const wantsProtection = policies.some(policy =>
    [policy, ...(policy?.pools ?? [])].some(terms => terms?.evidence === 'ProtectedNodeStatus'),
  )
  const protection = wantsProtection ? await readProtection(client, attempt) : undefined
  const inventories = new Map<string, EvidenceProvider>()
  for (const policy of policies) {
    const location = policy?.inventory
    if (location && !inventories.has(keyOf(location)))
      inventories.set(keyOf(location), await readInventory(client, location, unchecked))
  }
  return {
    nodes: nodes?.items ?? [],
    reserved,
    protection,
    unchecked,
    evidence(policy) {
      const found = policy?.inventory && inventories.get(keyOf(policy.inventory))
      return [...(found ? [found] : []), ...sourcesElsewhere(policy)]
    },
  }
}

const keyOf = (location: InventoryLocation) => JSON.stringify(location)

async function readReserved(client: KubeClient, attempt: Attempt): Promise<ReservedIndex> {
  const index = new ReservedIndex()
  const read = async <T extends KubeObject>(
    resource: ResourceRef,
    of: (object: T) => Reservations,
    selectors = {},
  ) => {
    const list = await attempt(resource.kind, () => listAll<T>(client, resource, selectors))
    for (const object of list?.items ?? []) index.set(object, of(object))
  }
  await read<Service>(services, reservedByService)
  const labelSelector = 'kubernetes.io/service-name=kubernetes'
  await read<EndpointSlice>(endpointSlices, reservedByEndpoints, { namespace: 'default', labelSelector })
  // Not every cluster serves it, which leaves nothing unchecked.
  const cidrs = await attemptInto([])('ServiceCIDR', () => listAll<ServiceCidr>(client, serviceCidrs))
  for (const object of cidrs?.items ?? []) index.set(object, reservedByServiceCidr(object))
  return index
}

async function readProtection(client: KubeClient, attempt: Attempt): Promise<Protection | undefined> {
  const policies = await attempt('ValidatingAdmissionPolicies', () =>
    listAll<ValidatingAdmissionPolicy>(client, validatingAdmissionPolicies),
  )
  const bindings = await attempt('ValidatingAdmissionPolicyBindings', () =>
    listAll<ValidatingAdmissionPolicyBinding>(client, validatingAdmissionPolicyBindings),
  )
  if (!policies || !bindings) return undefined
  const found = inForce(nodeAddressProtection, policies.items, bindings.items)
  // Since when it is as it is now only the controller knows, which watches it.
  return found.inForce ? { inForce: true, since: found.since ?? Number.POSITIVE_INFINITY } : found
}

async function readInventory(
  client: KubeClient,
  { configMap, secret, file }: InventoryLocation,
  unchecked: string[],
): Promise<Inventory> {
  const path = configMap ?? secret ?? ''
  const inventory = new Inventory(
    `inventory ${configMap ? 'ConfigMap' : secret ? 'Secret' : ''} ${path || file}`,
  )
  const lose = (why: string) => {
    unchecked.push(`${inventory.name}: ${why}`)
    inventory.lose(why)
    return inventory
  }
  if (file !== undefined) return lose('is on the disk of the controller')
  const [namespace = '', name = ''] = path.split('/')
  try {
    const resource = configMap ? resources.configMaps : resources.secrets
    const { data = {} } = await client.get<ConfigMap>(resource, { namespace, name })
    const texts = Object.entries(data).map(([key, value]) => [
      key,
      secret ? Buffer.from(value, 'base64').toString() : value,
    ])
    inventory.read(parseInventory(Object.fromEntries(texts)))
    return inventory
  } catch (error) {
    if (isStatus(error, 'Forbidden') || isStatus(error, 'NotFound'))
      return lose(error.status.message ?? 'cannot be read')
    if (hasCode(error, 'INVENTORY_INVALID')) return lose(error.message)
    throw error
  }
}
