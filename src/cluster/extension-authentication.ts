/** ConfigMap kube-system/extension-apiserver-authentication: what others trust client certificates by. */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { type ConfigMap, resources } from '../kube/types.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { encodePem } from '../x509/pem.ts'

const metadata = { name: 'extension-apiserver-authentication', namespace: 'kube-system' }
const key = 'client-ca-file'

/**
 * The published bundle with ours added: several API servers may write it, so that an old CA stays until it has expired.
 * `now` in milliseconds since the epoch. Throws X509_MALFORMED for a bundle that cannot be read.
 */
export function mergedClientCas(published: string, own: string, now: number): string {
  const certificates = [published, own].flatMap(pem => parseCertificatesPem(pem))
  const valid = certificates.filter(({ notAfter }) => notAfter >= now)
  return [...new Set(valid.map(({ raw }) => encodePem('CERTIFICATE', raw)))].join('')
}

/** Creates the ConfigMap or adds `clientCas` (PEM) to it. */
export async function publishClientCas(client: KubeClient, clientCas: string, now: number): Promise<void> {
  const current = await currentConfigMap(client)
  const published = current?.data?.[key] ?? ''
  const merged = mergedClientCas(published, clientCas, now)
  if (current && merged === published) return
  const next: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    ...current,
    data: { ...current?.data, [key]: merged },
  }
  await (current ? client.update(resources.configMaps, next) : client.create(resources.configMaps, next))
}

/** The ConfigMap says exactly this from now on: a CA that was dropped goes. */
export async function replaceClientCas(client: KubeClient, clientCas: string): Promise<void> {
  await client.patch(resources.configMaps, metadata, 'merge', { data: { [key]: clientCas } })
}

async function currentConfigMap(client: KubeClient): Promise<ConfigMap | undefined> {
  try {
    return await client.get<ConfigMap>(resources.configMaps, metadata)
  } catch (error) {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  }
}
