/** Every place of a cluster from which somebody takes trust in its API server, as it can be read now. */
import { listRootCertificates, readClusterInfo } from '../../doctor/gather/trust.ts'
import { isStatus, type KubeClient, listAll } from '../../kube/client.ts'
import { type TrustBundleObject, trustBundle } from '../../kube/rollcall/trust-bundle.ts'
import { type KubeObject, resources } from '../../kube/types.ts'
import { decodeBundle } from '../../trust/bundle-text.ts'
import { apiServerSigner, type ClusterTrustBundle } from '../../trust/cluster-trust-bundle.ts'
import { serviceAccountTokenType } from '../../trust/token-secrets.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { encodePem } from '../../x509/pem.ts'

export interface ReadSink {
  name: string
  /** Its CAs, PEM; absent: it has none, or cannot be read. */
  pem?: string
  problem?: string
}

export interface Bundle {
  generation: number
  pem: string
}

/** The bundles for the API server's certificates that roots have signed; who signed is the consumer's question. */
export async function signedForServers(client: KubeClient): Promise<Bundle[]> {
  const { items } = await listAll<TrustBundleObject>(client, trustBundle.ref)
  return items.flatMap(({ spec }) => {
    const content = spec.role === 'apiserver-serving' ? decodeBundle(spec.content) : undefined
    if (!content) return []
    const pem = content.anchors.map(der => encodePem('CERTIFICATE', der)).join('')
    return { generation: content.generation, pem }
  })
}

/** The sinks that the cluster shows; one that the asker may not read is named with that. */
export async function readSinks(client: KubeClient): Promise<ReadSink[]> {
  const parts = await Promise.all([
    readable('cluster-info', async () => {
      const { certificateAuthority: pem, problem } = await readClusterInfo(client)
      return [{ name: 'cluster-info', ...(pem !== undefined && { pem }), ...(problem && { problem }) }]
    }),
    readable('kube-root-ca.crt', async () => {
      const published = await listRootCertificates(client)
      return byContent(
        'kube-root-ca.crt',
        published.map(({ namespace, pem }) => ({ where: namespace, pem })),
      )
    }),
    readable('ClusterTrustBundles', async () => {
      const found = await listAll<ClusterTrustBundle>(client, resources.clusterTrustBundles).catch(error => {
        // Beta, and off by default: a cluster without them has no such place.
        if (isStatus(error, 'NotFound')) return { items: [] }
        throw error
      })
      const ofServers = found.items.filter(({ spec }) => spec.signerName === apiServerSigner)
      return byContent(
        'ClusterTrustBundle',
        ofServers.map(({ metadata, spec }) => ({ where: metadata.name, pem: spec.trustBundle })),
      )
    }),
    readable('token Secrets', async () => {
      const { items } = await listAll<KubeObject & { data?: Record<string, string> }>(
        client,
        resources.secrets,
        {
          fieldSelector: `type=${serviceAccountTokenType}`,
        },
      )
      const found = items.map(({ metadata, data }) => ({
        where: `${metadata.namespace}/${metadata.name}`,
        pem: Buffer.from(data?.['ca.crt'] ?? '', 'base64').toString(),
      }))
      return byContent('token Secrets', found)
    }),
  ])
  return parts.flat()
}

async function readable(name: string, read: () => Promise<ReadSink[]>): Promise<ReadSink[]> {
  try {
    return await read()
  } catch (error) {
    if (isStatus(error, 'Forbidden') || isStatus(error, 'NotFound'))
      return [{ name, problem: isStatus(error, 'Forbidden') ? 'may not be read' : 'is not there' }]
    throw error
  }
}

/** A hundred namespaces with the same are one line; the one that differs is its own. */
function byContent(name: string, copies: readonly { where: string; pem?: string | undefined }[]): ReadSink[] {
  const groups = new Map<string, string[]>()
  for (const { where, pem = '' } of copies) groups.set(pem, [...(groups.get(pem) ?? []), where])
  return [...groups].map(([pem, places]) => {
    const where = places.length > 3 ? `${places.length} places` : places.join(', ')
    return { name: `${name} (${where})`, ...(pem === '' ? { problem: 'holds no CA' } : { pem }) }
  })
}

/** The generation whose anchors are exactly those of the text; undefined: none. */
export function generationOf(pem: string, bundles: readonly Bundle[]): number | undefined {
  const wanted = keyOf(pem)
  return bundles.findLast(bundle => keyOf(bundle.pem) === wanted)?.generation
}

function keyOf(pem: string): string {
  return parseCertificatesPem(pem)
    .map(({ raw }) => Buffer.from(raw).toString('base64'))
    .sort()
    .join(' ')
}
