/** What a cluster says about its own API: Service `kubernetes` in default, and where it really is. */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { sameJson } from '../kube/json.ts'
import { type KubeObject, type ResourceRef, resources } from '../kube/types.ts'
import { apiServiceAddress } from './identities.ts'

const metadata = (labels: Record<string, string>) => ({ name: 'kubernetes', namespace: 'default', labels })
const httpsPort = { name: 'https', protocol: 'TCP' }

interface Published {
  resource: ResourceRef
  object: KubeObject & Record<string, unknown>
  /** The fields that are kept as they should be. */
  fields: readonly string[]
}

/** The three objects that kube-apiserver keeps itself, for an API at this IP address and port. */
function apiServiceObjects(address: string, port: number): Published[] {
  return [
    {
      resource: resources.services,
      object: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: metadata({ component: 'apiserver', provider: 'kubernetes' }),
        spec: {
          type: 'ClusterIP',
          clusterIP: apiServiceAddress,
          sessionAffinity: 'None',
          ports: [{ ...httpsPort, port: 443, targetPort: port }],
        },
      },
      fields: [],
    },
    {
      resource: resources.endpoints,
      object: {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: metadata({ 'endpointslice.kubernetes.io/skip-mirror': 'true' }),
        subsets: [{ addresses: [{ ip: address }], ports: [{ ...httpsPort, port }] }],
      },
      fields: ['subsets'],
    },
    {
      resource: resources.endpointSlices,
      object: {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: metadata({ 'kubernetes.io/service-name': 'kubernetes' }),
        addressType: address.includes(':') ? 'IPv6' : 'IPv4',
        endpoints: [{ addresses: [address], conditions: { ready: true } }],
        ports: [{ ...httpsPort, port }],
      },
      fields: ['endpoints', 'ports'],
    },
  ]
}

/** Creates what is missing and brings the endpoints to where the API is now: it may have been on another port before. */
export async function publishApiService(client: KubeClient, address: string, port: number): Promise<void> {
  await Promise.all(apiServiceObjects(address, port).map(published => publish(client, published)))
}

async function publish(client: KubeClient, { resource, object, fields }: Published): Promise<void> {
  const { name, namespace } = object.metadata
  try {
    await client.create(resource, object)
    return
  } catch (error) {
    if (!isStatus(error, 'AlreadyExists')) throw error
  }
  const target = { name, ...(namespace && { namespace }) }
  const current = await client.get<Published['object']>(resource, target)
  const wrong = fields.filter(field => !sameJson(current[field], object[field]))
  if (wrong.length === 0) return
  const repaired = Object.fromEntries(wrong.map(field => [field, object[field]]))
  await client.update(resource, { ...current, ...repaired })
}
