import { posix } from 'node:path'
import { encodeKubeconfig, type Reference } from '../kube/encode-kubeconfig.ts'
import { parseKubeconfig, type SelectedContext, selectContext } from '../kube/kubeconfig.ts'
import { connectionConfig } from '../kube/kubeconfig-connection.ts'
import type { ConnectionConfig } from '../kube/transport.ts'
import type { Clock, Disk } from '../ports.ts'
import { BoundedCache } from '../x509/bounded-cache.ts'
import { sha256Hex } from '../x509/fingerprint.ts'

/** Where the API server is and what to trust of it; how to authenticate is another matter. */
export interface ClusterEndpoint {
  /** What a connection needs, without a credential. */
  connection: Omit<ConnectionConfig, 'clientCertificate' | 'bearerToken' | 'readBearerToken'>
  /** How the kubeconfig gives the CA: a file stays a file (K-10). */
  certificateAuthority?: Reference
}

/** A kubeconfig is read again with each new certificate and changes hardly ever; parsing its YAML is the costly part. */
const contexts = new BoundedCache<SelectedContext>(64)

/** The current context without its user, whose token is not to be kept. */
function contextOf(bytes: Uint8Array, path: string): SelectedContext {
  return contexts.getOrCompute(`${path} ${sha256Hex(bytes)}`, () => ({
    ...selectContext(parseKubeconfig(new TextDecoder().decode(bytes), path)),
    user: {},
  }))
}

/** The endpoint in a kubeconfig, its CA file read just now. Throws KUBECONFIG_INVALID or the disk's error. */
export async function readEndpoint(
  path: string,
  ports: { disk: Pick<Disk, 'read'>; clock: Clock },
): Promise<ClusterEndpoint> {
  const context = contextOf(await ports.disk.read(path), path)
  const connection = await connectionConfig(context, path, ports)
  const authority = context.cluster.certificateAuthority
  if (!authority) return { connection }
  return {
    connection,
    certificateAuthority: 'file' in authority ? authority : { pem: authority.data.reveal() },
  }
}

/** Whether both lead to the same server with the same trust. */
export function sameEndpoint(a: ClusterEndpoint, b: ClusterEndpoint): boolean {
  return JSON.stringify(a.connection) === JSON.stringify(b.connection)
}

/**
 * Writes the node's kubeconfig as the kubelet's bootstrap does (K-10): fixed names, certificate and key by the path of
 * `kubelet-client-current.pem`, which need not exist yet. Unlike the kubelet's, tls-server-name and proxy-url are kept. Mode 0600, the
 * folder 0755 where it is missing; an old file is replaced in one step.
 */
export async function writeNodeKubeconfig(
  disk: Disk,
  path: string,
  endpoint: ClusterEndpoint,
  currentPairPath: string,
): Promise<void> {
  const { server, insecureSkipTlsVerify, tlsServerName, proxyUrl } = endpoint.connection
  const text = encodeKubeconfig({
    server,
    ...(endpoint.certificateAuthority && { certificateAuthority: endpoint.certificateAuthority }),
    ...(insecureSkipTlsVerify && { insecureSkipTlsVerify }),
    ...(tlsServerName && { tlsServerName }),
    ...(proxyUrl && { proxyUrl }),
    user: { clientCertificate: { file: currentPairPath }, clientKey: { file: currentPairPath } },
  })
  const directory = posix.dirname(path)
  const next = `${path}.new`
  await disk.makeDirectory(directory, 0o755)
  await disk.remove(next)
  await disk.write(next, text.reveal(), { mode: 0o600, sync: true })
  await disk.rename(next, path)
  await disk.syncDirectory(directory)
}
