import { hasCode, systemCode } from '../errors.ts'
import { parseKubeconfig, selectContext } from '../kube/kubeconfig.ts'
import { type ConnectionPorts, connectionConfig } from '../kube/kubeconfig-connection.ts'
import type { ConnectionConfig } from '../kube/transport.ts'
import { type CredentialSource, nothingOf } from './credential-sources.ts'

/**
 * The bootstrap kubeconfig (`--bootstrap-kubeconfig`), read anew at every attempt: a token that was replaced, or a file
 * that came late, is found without a restart. Any user of a kubeconfig will do: token, token file, client certificate,
 * and an exec plugin where the ports can run one.
 */
export function kubeconfigSource(path: string, ports: ConnectionPorts): CredentialSource {
  const name = `kubeconfig ${path}`
  const nothing = nothingOf(name)
  return {
    name,
    async acquire() {
      try {
        const text = new TextDecoder().decode(await ports.disk.read(path))
        const context = selectContext(parseKubeconfig(text, path))
        const connection = await connectionConfig(context, path, ports)
        const authority = context.cluster.certificateAuthority
        const certificateAuthority =
          authority && ('file' in authority ? authority : { pem: authority.data.reveal() })
        if (hasCredential(connection)) {
          const credential = {
            source: name,
            connection,
            ...(certificateAuthority && { certificateAuthority }),
          }
          return { ok: true, credential }
        }
        return nothing('NoCredential', `user "${context.userName}" has neither token nor certificate`)
      } catch (error) {
        if (hasCode(error, 'KUBECONFIG_INVALID')) return nothing('Invalid', error.message)
        // An exec plugin that gave none.
        if (hasCode(error, 'CREDENTIAL_UNAVAILABLE')) return nothing('NoCredential', error.message)
        const code = systemCode(error)
        if (code === undefined) throw error
        return nothing(code === 'ENOENT' ? 'Missing' : 'Unreadable', code)
      }
    },
  }
}

function hasCredential({ clientCertificate, bearerToken, readBearerToken }: ConnectionConfig): boolean {
  return Boolean(clientCertificate || bearerToken || readBearerToken)
}
