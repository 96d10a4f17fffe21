/** The places of a cluster of kubeadm. What kube-controller-manager and kube-apiserver write themselves is only read back. */
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { type ConfigMap, type Namespace, resources, type Secret } from '../../kube/types.ts'
import { rootCaName } from '../../trust/root-ca.ts'
import { authoritiesInTokens } from '../../trust/token-secrets.ts'
import { replaceClientCas } from '../extension-authentication.ts'
import type { Snapshot } from '../generic/snapshot.ts'
import type { TrustSink } from '../rollover/trust-sinks.ts'

const clusterInfo = { name: 'cluster-info', namespace: 'kube-public' }
const authentication = { name: 'extension-apiserver-authentication', namespace: 'kube-system' }

export function kubeadmSinks(client: KubeClient, now: () => Snapshot): TrustSink[] {
  const text = ({ name, namespace }: { name: string; namespace: string }, key: string) =>
    now().get<ConfigMap>(resources.configMaps, name, namespace)?.data?.[key]
  const role = 'apiserver-serving'
  return [
    {
      role,
      id: rootCaName,
      seed: false,
      async read() {
        const active = now()
          .list<Namespace>(resources.namespaces)
          .filter(({ status }) => (status?.phase ?? 'Active') === 'Active')
        return active.map(
          ({ metadata }) => text({ name: rootCaName, namespace: metadata.name }, 'ca.crt') ?? '',
        )
      },
      // kube-controller-manager does, by the root CA file of the one that leads.
      write: async () => {},
    },
    {
      role,
      id: 'service-account-tokens',
      seed: false,
      read: async () => authoritiesInTokens(now().list<Secret>(resources.secrets)),
      write: async () => {},
    },
    {
      role,
      id: clusterInfo.name,
      seed: true,
      read: async () => [authorityIn(text(clusterInfo, 'kubeconfig') ?? '')],
      write: pem => writeClusterInfo(client, pem),
    },
    {
      role: 'client',
      id: authentication.name,
      seed: false,
      read: async () => {
        const pem = text(authentication, 'client-ca-file')
        return pem === undefined ? [] : [pem]
      },
      // Each kube-apiserver adds what it judges by, and none takes anything away before it has expired.
      write: pem => replaceClientCas(client, pem),
    },
  ]
}

const line = /^( *certificate-authority-data: )(\S+)$/m

function authorityIn(kubeconfig: string): string {
  return Buffer.from(line.exec(kubeconfig)?.[2] ?? '', 'base64').toString()
}

/** Its signatures are made anew by bootstrapsigner of kube-controller-manager. */
async function writeClusterInfo(client: KubeClient, pem: string): Promise<void> {
  try {
    const { data } = await client.get<ConfigMap>(resources.configMaps, clusterInfo)
    const before = data?.kubeconfig ?? ''
    const kubeconfig = before.replace(line, `$1${Buffer.from(pem).toString('base64')}`)
    if (kubeconfig !== before)
      await client.patch(resources.configMaps, clusterInfo, 'merge', { data: { kubeconfig } })
  } catch (error) {
    if (!isStatus(error, 'NotFound')) throw error
  }
}
