import { isStatus, type KubeClient } from '../kube/client.ts'
import { type ConfigMap, resources } from '../kube/types.ts'

const target = { name: 'cluster-info', namespace: 'kube-public' }

/**
 * Says in kube-public/cluster-info where the API is and which CA it has, as kubeadm does, and says it anew when the API
 * moved to another port. The signatures beside it are the controller bootstrap-signing's.
 */
export async function publishClusterInfo(
  client: KubeClient,
  server: string,
  certificateAuthority: string,
): Promise<void> {
  const kubeconfig = clusterInfoKubeconfig(server, certificateAuthority)
  try {
    await client.create(resources.configMaps, clusterInfo(kubeconfig))
  } catch (error) {
    if (!isStatus(error, 'AlreadyExists')) throw error
    await client.patch(resources.configMaps, target, 'merge', { data: { kubeconfig } })
  }
}

/** The ConfigMap that a machine without any credential may read. */
export function clusterInfo(kubeconfig: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: target, data: { kubeconfig } }
}

/** A kubeconfig without a user, in the form kubeadm writes it. */
function clusterInfoKubeconfig(server: string, certificateAuthority: string): string {
  const data = Buffer.from(certificateAuthority).toString('base64')
  return `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${data}
    server: ${server}
  name: ""
contexts: null
current-context: ""
kind: Config
preferences: {}
users: null
`
}
