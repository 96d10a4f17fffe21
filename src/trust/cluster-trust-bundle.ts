/** ClusterTrustBundles: trust anchors of a signer or of none, which pods may mount (certificates.k8s.io/v1beta1). */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { type KubeObject, resources } from '../kube/types.ts'

export interface ClusterTrustBundle extends KubeObject {
  spec: { signerName?: string; trustBundle: string }
}

/** That of the API server's own certificates, as kube-controller-manager names their signer. */
export const apiServerSigner = 'kubernetes.io/kube-apiserver-serving'
export const apiServerBundle = {
  name: 'kubernetes.io:kube-apiserver-serving:rollcall',
  signerName: apiServerSigner,
}

/** Writes these CAs (PEM) into the bundle, which is made where it is missing. Rejects where the API serves none (NotFound). */
export async function publishTrustBundle(
  client: KubeClient,
  { name, signerName }: { name: string; signerName?: string },
  trustBundle: string,
): Promise<void> {
  const resource = resources.clusterTrustBundles
  const { group, version, kind } = resource
  const spec = { ...(signerName !== undefined && { signerName }), trustBundle }
  const current = await storedTrustBundle(client, name)
  if (current) await client.update<ClusterTrustBundle>(resource, { ...current, spec })
  else
    await client.create<ClusterTrustBundle>(resource, {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name },
      spec,
    })
}

/** undefined: it is not there, or the API serves none. */
export async function storedTrustBundle(
  client: KubeClient,
  name: string,
): Promise<ClusterTrustBundle | undefined> {
  try {
    return await client.get<ClusterTrustBundle>(resources.clusterTrustBundles, { name })
  } catch (error) {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  }
}
