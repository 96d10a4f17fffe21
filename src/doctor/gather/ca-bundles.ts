/** CA bundles by which the API server trusts what it calls: extension API servers and webhooks. */
import { isStatus, type KubeClient, listAll } from '../../kube/client.ts'
import type { KubeObject, ResourceRef } from '../../kube/types.ts'
import type { CalledServer } from '../artifacts/cluster-artifacts.ts'
import { certificatesOnly } from './trust.ts'

interface ApiService extends KubeObject {
  spec?: { service?: object; caBundle?: string }
  status?: { conditions?: { type: string; status: string; reason?: string; message?: string }[] }
}

interface WebhookConfiguration extends KubeObject {
  webhooks?: { name: string; clientConfig?: { caBundle?: string } }[]
}

const clusterWide = (group: string, plural: string, kind: string): ResourceRef => ({
  group,
  version: 'v1',
  plural,
  kind,
  namespaced: false,
})
const apiServices = clusterWide('apiregistration.k8s.io', 'apiservices', 'APIService')
const webhookConfigurations = ['Validating', 'Mutating'].map(word =>
  clusterWide(
    'admissionregistration.k8s.io',
    `${word.toLowerCase()}webhookconfigurations`,
    `${word}WebhookConfiguration`,
  ),
)

/** An API without one of these kinds has nothing of that kind. */
export async function listCalledServers(client: KubeClient): Promise<CalledServer[]> {
  const [services, ...configurations] = await Promise.all([
    all<ApiService>(client, apiServices),
    ...webhookConfigurations.map(of => all<WebhookConfiguration>(client, of)),
  ])
  return [
    ...services.filter(({ spec }) => spec?.service).map(calledService),
    ...configurations.flat().flatMap(({ kind, metadata, webhooks = [] }) =>
      webhooks.map(({ name, clientConfig }) => ({
        object: `${kind} ${metadata.name}, webhook ${name}`,
        ...bundleOf(clientConfig?.caBundle),
      })),
    ),
  ]
}

function calledService({ metadata, spec, status }: ApiService): CalledServer {
  const available = status?.conditions?.find(({ type }) => type === 'Available')
  return {
    object: `APIService ${metadata.name}`,
    ...bundleOf(spec?.caBundle),
    ...(available?.status === 'False' && {
      unavailable: `${available.reason ?? ''}: ${available.message ?? ''}`,
    }),
  }
}

const bundleOf = (base64: string | undefined) =>
  base64 ? { caBundle: certificatesOnly(Buffer.from(base64, 'base64').toString('utf8')) } : {}

async function all<T extends KubeObject>(client: KubeClient, resource: ResourceRef): Promise<T[]> {
  try {
    const { items } = await listAll<T>(client, resource)
    return items.map(item => ({ ...item, kind: resource.kind }))
  } catch (error) {
    if (isStatus(error, 'NotFound')) return []
    throw error
  }
}
