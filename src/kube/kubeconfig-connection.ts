import { systemCode } from '../errors.ts'
import { Secret } from '../keys/secret.ts'
import type { Clock, Disk } from '../ports.ts'
import {
  type ExecConfig,
  invalid,
  type KubeconfigCluster,
  type SelectedContext,
  type Source,
} from './kubeconfig.ts'
import { tokenFromFile } from './token-file.ts'
import type { ConnectionConfig } from './transport.ts'

export interface ConnectionPorts {
  disk: Pick<Disk, 'read'>
  clock: Clock
  /** Runs an exec credential plugin; without it a kubeconfig that names one is refused. */
  execCredential?(
    exec: ExecConfig,
    cluster: KubeconfigCluster,
  ): Promise<Pick<ConnectionConfig, 'clientCertificate' | 'bearerToken' | 'readBearerToken'>>
}

/**
 * Reads the files a context refers to and gives what a Transport needs. A token file is read again later, the other
 * files are not. Throws RollcallError KUBECONFIG_INVALID.
 */
export async function connectionConfig(
  { cluster, user, userName }: SelectedContext,
  path: string,
  ports: ConnectionPorts,
): Promise<ConnectionConfig> {
  const read = async (source: Source, field: string): Promise<Secret> => {
    if ('data' in source) return source.data
    try {
      return new Secret(new TextDecoder().decode(await ports.disk.read(source.file)))
    } catch (error) {
      const why = systemCode(error) ?? String(error)
      throw invalid({ path, field }, `names the file ${source.file}, which cannot be read (${why})`)
    }
  }
  const userField = `users[name=${userName}].user`
  const config: ConnectionConfig = { server: cluster.server }
  if (cluster.tlsServerName) config.tlsServerName = cluster.tlsServerName
  if (cluster.proxyUrl) config.proxyUrl = cluster.proxyUrl
  if (cluster.insecureSkipTlsVerify) config.insecureSkipTlsVerify = true
  else if (cluster.certificateAuthority) {
    config.certificateAuthority = (
      await read(cluster.certificateAuthority, 'cluster.certificate-authority')
    ).reveal()
  }
  if (user.clientCertificate && user.clientKey) {
    const field = `${userField}.client-certificate`
    const certificate = certificatesOf((await read(user.clientCertificate, field)).reveal())
    if (certificate === '') throw invalid({ path, field }, 'holds no PEM block CERTIFICATE')
    config.clientCertificate = { certificate, key: await read(user.clientKey, `${userField}.client-key`) }
  }
  if (user.token) config.bearerToken = user.token
  if (user.tokenFile) config.readBearerToken = tokenFromFile(user.tokenFile, ports, user.token)

  const hasCredential = config.clientCertificate || user.token || user.tokenFile
  // As client-go: a plugin is not asked where the kubeconfig has a credential of its own.
  if (!user.exec || hasCredential) return config
  if (!ports.execCredential) {
    throw invalid(
      { path, field: `${userField}.exec` },
      'is a credential plugin, which this command cannot run',
    )
  }
  return { ...config, ...(await ports.execCredential(user.exec, cluster)) }
}

/** client-certificate and client-key may be one file (K-10); the key must not stay in a field that is no Secret. */
function certificatesOf(pem: string): string {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g)
  return (blocks ?? []).map(block => `${block}\n`).join('')
}
