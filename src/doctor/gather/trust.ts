/** What the cluster publishes for others to trust it by. */
import { RollcallError } from '../../errors.ts'
import { type KubeClient, listAll } from '../../kube/client.ts'
import { parseKubeconfig, selectContext } from '../../kube/kubeconfig.ts'
import { type ConfigMap, type Namespace, resources } from '../../kube/types.ts'
import { decodePem, encodePem } from '../../x509/pem.ts'
import type { ClusterInfo, PublishedRoot } from '../artifacts.ts'

export const rootCaName = 'kube-root-ca.crt'

/** One for each namespace that is not going away, in the order of their names. */
export async function listRootCertificates(client: KubeClient): Promise<PublishedRoot[]> {
  const [namespaces, published] = await Promise.all([
    listAll<Namespace>(client, resources.namespaces),
    listAll<ConfigMap>(client, resources.configMaps, { fieldSelector: `metadata.name=${rootCaName}` }),
  ])
  const byNamespace = new Map(
    published.items.map(({ metadata, data }) => [metadata.namespace, data?.['ca.crt']]),
  )
  return namespaces.items
    .filter(({ status }) => status?.phase !== 'Terminating')
    .map(({ metadata: { name } }) => {
      const pem = byNamespace.get(name)
      return { namespace: name, ...(pem !== undefined && { pem: certificatesOnly(pem) }) }
    })
}

/** The blocks CERTIFICATE of a text. Keys that somebody put beside them are left out, as is all that is no PEM. */
export function certificatesOnly(text: string): string {
  return decodePem(text)
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ bytes }) => encodePem('CERTIFICATE', bytes))
    .join('')
}

export async function readClusterInfo(client: KubeClient): Promise<ClusterInfo> {
  const { data = {} } = await client.get<ConfigMap>(resources.configMaps, {
    name: 'cluster-info',
    namespace: 'kube-public',
  })
  const prefix = 'jws-kubeconfig-'
  const signedBy = Object.keys(data).flatMap(key =>
    key.startsWith(prefix) ? [key.slice(prefix.length)] : [],
  )
  return { ...clusterOf(data.kubeconfig ?? ''), signedBy: signedBy.sort() }
}

/** kubeadm's cluster-info has one cluster, no user and an empty context. */
function clusterOf(text: string): Omit<ClusterInfo, 'signedBy'> {
  try {
    const config = parseKubeconfig(text, 'kube-public/cluster-info')
    const [name] = config.clusters.keys()
    if (name === undefined) return { problem: 'its kubeconfig names no cluster' }
    const fields = { cluster: name }
    const context = { fields, place: { path: config.path, field: 'contexts' } }
    const { cluster } = selectContext({ ...config, contexts: new Map([['only', context]]) }, 'only')
    const { server, certificateAuthority } = cluster
    const pem =
      certificateAuthority && 'data' in certificateAuthority ? certificateAuthority.data.reveal() : undefined
    return { server, ...(pem !== undefined && { certificateAuthority: certificatesOnly(pem) }) }
  } catch (error) {
    if (error instanceof RollcallError) return { problem: error.message }
    throw error
  }
}

/** What kube-apiserver tells its extensions to trust client certificates by; PEM. */
export async function readClientTrust(client: KubeClient): Promise<string> {
  const { data } = await client.get<ConfigMap>(resources.configMaps, {
    name: 'extension-apiserver-authentication',
    namespace: 'kube-system',
  })
  return certificatesOnly(data?.['client-ca-file'] ?? '')
}
