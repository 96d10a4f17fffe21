import { RollcallError, systemCode } from '../../errors.ts'
import { Secret } from '../../keys/secret.ts'
import {
  type ExecConfig,
  type KubeconfigCluster,
  type KubeconfigUser,
  parseKubeconfig,
  type Source,
  selectContext,
} from '../../kube/kubeconfig.ts'
import type { ConnectionConfig } from '../../kube/transport.ts'
import type { KubeconfigFile } from '../artifacts/node-artifacts.ts'
import type { ReadOnlyDisk } from './cert-directory.ts'
import { certificatesOnly } from './trust.ts'

export interface ReadKubeconfig {
  facts: KubeconfigFile
  /** With the credential that it holds, to try it. */
  connection?: ConnectionConfig
  /** The credential plugin that it leads to. */
  exec?: { config: ExecConfig; cluster: KubeconfigCluster }
}

/** What the current context of a kubeconfig leads to; whatever is wrong with it is a fact, not an error. */
export async function readKubeconfigFile(path: string, disk: ReadOnlyDisk): Promise<ReadKubeconfig> {
  try {
    const text = new TextDecoder().decode(await disk.read(path))
    return await readContext(path, text, disk)
  } catch (error) {
    if (systemCode(error) === 'ENOENT')
      return { facts: { path, missing: true, problem: 'it does not exist' } }
    if (error instanceof RollcallError) return { facts: { path, problem: error.message } }
    if (systemCode(error) !== undefined)
      return { facts: { path, problem: `it cannot be read: ${systemCode(error)}` } }
    throw error
  }
}

async function readContext(path: string, text: string, disk: ReadOnlyDisk): Promise<ReadKubeconfig> {
  const { cluster, user } = selectContext(parseKubeconfig(text, path))
  const missingFiles: string[] = []
  const read = async (source: Source | undefined): Promise<Secret | undefined> => {
    if (!source) return undefined
    if ('data' in source) return source.data
    try {
      return new Secret(new TextDecoder().decode(await disk.read(source.file)))
    } catch (error) {
      if (systemCode(error) === undefined) throw error
      missingFiles.push(source.file)
      return undefined
    }
  }
  const authority = await read(cluster.certificateAuthority)
  const certificate = await read(user.clientCertificate)
  // Only whether it is there.
  await read(user.clientKey)
  const certificateAuthority = authority && certificatesOnly(authority.reveal())
  const { clientCertificate } = user
  const facts: KubeconfigFile = {
    path,
    server: cluster.server,
    credential: credentialOf(user),
    ...(certificateAuthority && { certificateAuthority }),
    ...(clientCertificate && 'file' in clientCertificate && { certificateFile: clientCertificate.file }),
    ...(certificate && { certificate: certificatesOnly(certificate.reveal()) }),
    ...(missingFiles.length > 0 && { missingFiles: [...new Set(missingFiles)] }),
  }
  const connection: ConnectionConfig = {
    server: cluster.server,
    ...(certificateAuthority && { certificateAuthority }),
    ...(cluster.insecureSkipTlsVerify && { insecureSkipTlsVerify: true }),
    ...(user.token && { bearerToken: user.token }),
  }
  return { facts, connection, ...(user.exec && { exec: { config: user.exec, cluster } }) }
}

function credentialOf(user: KubeconfigUser): NonNullable<KubeconfigFile['credential']> {
  if (user.clientCertificate) return 'certificate'
  if (user.token || user.tokenFile) return 'token'
  return user.exec ? 'exec' : 'none'
}
