/** What the cluster publishes for others to trust it by. */
import { parse } from 'yaml'
import { type KubeClient, listAll } from '../../kube/client.ts'
import { isRecord } from '../../kube/json.ts'
import { type ConfigMap, type Namespace, resources } from '../../kube/types.ts'
import { decodePem, encodePem } from '../../x509/pem.ts'
import type { ClusterInfo, PublishedRoot } from '../artifacts/cluster-artifacts.ts'

const rootCaName = 'kube-root-ca.crt'

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
      if (pem === undefined) return { namespace: name }
      const oddities = odditiesOf(pem)
      return { namespace: name, pem: certificatesOnly(pem), ...(oddities.length > 0 && { oddities }) }
    })
}

/** Characters that a bundle has at most before parsers and pods mind. */
const longest = 512 * 1024

/** What some parsers refuse, in words; never what stands there. */
function odditiesOf(pem: string): string[] {
  const between = pem
    .replaceAll(/-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----/g, '')
    .replace('\uFEFF', '')
  return [
    ...(pem.startsWith('\uFEFF') ? ['it begins with a byte order mark'] : []),
    ...(pem.includes('\r') ? ['it has carriage returns'] : []),
    ...(between.trim() === '' ? [] : ['there is text beside the PEM blocks']),
    ...(pem.length > longest ? [`it is ${pem.length} characters long`] : []),
  ]
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

/**
 * kubeadm's cluster-info has one cluster, whose name is empty, no user and no context: less than a kubeconfig must have to
 * be used, so it is read for itself. What stands there beside it is left where it is.
 */
function clusterOf(text: string): Omit<ClusterInfo, 'signedBy'> {
  const config = record(parsed(text))
  const entry = Array.isArray(config?.clusters) ? record(config.clusters[0]) : undefined
  const cluster = record(entry?.cluster)
  if (!cluster) return { problem: 'its kubeconfig names no cluster' }
  const { server, 'certificate-authority-data': data } = cluster
  if (typeof server !== 'string') return { problem: 'its kubeconfig names no server' }
  const pem = typeof data === 'string' ? Buffer.from(data, 'base64').toString('utf8') : undefined
  return { server, ...(pem !== undefined && { certificateAuthority: certificatesOnly(pem) }) }
}

function parsed(text: string): unknown {
  try {
    return parse(text, { prettyErrors: false })
  } catch {
    return undefined // It then names no cluster; the parser's message could quote what stands there.
  }
}

function record(value: unknown): Record<string, unknown> | undefined {
  return isRecord(value) ? value : undefined
}

/** What kube-apiserver tells its extensions to trust client certificates by; PEM. */
export async function readClientTrust(client: KubeClient): Promise<string> {
  const { data } = await client.get<ConfigMap>(resources.configMaps, {
    name: 'extension-apiserver-authentication',
    namespace: 'kube-system',
  })
  return certificatesOnly(data?.['client-ca-file'] ?? '')
}
