import { RollcallError, systemCode } from '../errors.ts'
import type { Clock, Disk } from '../ports.ts'
import { tokenFromFile } from './token-file.ts'
import type { ConnectionConfig } from './transport.ts'

/** Where the kubelet puts a pod's service account. */
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

export interface InClusterOptions {
  /** KUBERNETES_SERVICE_HOST of the pod. */
  host: string | undefined
  /** KUBERNETES_SERVICE_PORT of the pod. */
  port: string | undefined
  disk: Pick<Disk, 'read'>
  clock: Clock
}

/** How a pod reaches its cluster's API as its service account. Throws KUBECONFIG_INVALID outside a pod. */
export async function inClusterConfig({
  host,
  port,
  disk,
  clock,
}: InClusterOptions): Promise<ConnectionConfig> {
  if (!host || !port) {
    throw new RollcallError(
      'KUBECONFIG_INVALID',
      'no kubeconfig, and KUBERNETES_SERVICE_HOST is not set as it is in a pod; give --kubeconfig',
    )
  }
  const ca = await disk.read(`${FOLDER}/ca.crt`).catch((cause: unknown) => {
    const why = `${FOLDER}/ca.crt cannot be read (${systemCode(cause) ?? String(cause)})`
    throw new RollcallError(
      'KUBECONFIG_INVALID',
      `${why}; does the pod mount a service account?`,
      {},
      { cause },
    )
  })
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    certificateAuthority: new TextDecoder().decode(ca),
    readBearerToken: tokenFromFile(`${FOLDER}/token`, { disk, clock }),
  }
}
