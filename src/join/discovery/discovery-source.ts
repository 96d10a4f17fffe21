import { hasCode, systemCode } from '../../errors.ts'
import { Secret } from '../../keys/secret.ts'
import { createClient, isStatus } from '../../kube/client.ts'
import type { Connect, ConnectionConfig } from '../../kube/transport.ts'
import { type ConfigMap, resources } from '../../kube/types.ts'
import type { Clock, Disk } from '../../ports.ts'
import type { AcquireContext, Acquired, CredentialSource, NothingReason } from '../credential-sources.ts'
import { bootstrapTokenOf, readClusterInfo } from './read-cluster-info.ts'

export interface DiscoverySourceOptions {
  /** E.g. `https://10.0.0.10:6443`: asked for kube-public/cluster-info. */
  server: string
  /** File of the bootstrap token `id.secret`, which neither group nor others may read. */
  tokenFile: string
  /** SHA-256 of CA keys in lower-case hexadecimal (`parsePin`); none: whoever holds the token is believed. */
  pins: readonly string[]
  connect: Connect
  disk: Pick<Disk, 'read' | 'stat'>
  clock: Clock
}

/** Milliseconds for both questions together. */
const patience = 30_000
const target = { name: 'cluster-info', namespace: 'kube-public' }

/**
 * kubeadm's discovery (credentials 1.5): cluster-info over a connection that nothing is known of, the token's signature
 * over it, the pins, and then the same again over a connection that the CA found proves. Done anew for every attempt, so
 * that a token or a CA that changed is found without a restart. Stricter than kubeadm: with pins only what they vouch for
 * is trusted, and the token is not sent before all of it holds.
 */
export function discoverySource(options: DiscoverySourceOptions): CredentialSource {
  const { server, tokenFile, pins, disk } = options
  const name = `discovery at ${server}`
  const nothing = (reason: NothingReason, message: string): Acquired => ({
    ok: false,
    source: name,
    reason,
    message,
  })

  async function acquire(ask: (connection: ConnectionConfig) => Promise<ConfigMap>): Promise<Acquired> {
    if ((await disk.stat(tokenFile)).mode & 0o077)
      return nothing('Unreadable', `others may read the token file ${tokenFile}; make its mode 0600`)
    const text = new TextDecoder().decode(await disk.read(tokenFile)).trim()
    const token = bootstrapTokenOf(text)
    if (!token) return nothing('Invalid', `${tokenFile} holds no bootstrap token (id.secret)`)
    const found = readClusterInfo(
      (await ask({ server, insecureSkipTlsVerify: true })).data ?? {},
      token,
      pins,
    )
    if (!found.ok) return nothing(found.reason, found.message)
    const { certificateAuthority, kubeconfig } = found
    const again = await ask({ server, certificateAuthority })
    if (again.data?.kubeconfig !== kubeconfig)
      return nothing(
        'Invalid',
        'kube-public/cluster-info is another one over the connection that its CA proves',
      )
    const connection = { server: found.server, certificateAuthority, bearerToken: new Secret(text) }
    return { ok: true, credential: { source: name, connection } }
  }

  return {
    name,
    async acquire({ signal }: AcquireContext) {
      const over = new AbortController()
      const end = () => over.abort()
      const timer = options.clock.after(patience, end)
      signal?.addEventListener('abort', end, { once: true })
      try {
        return await acquire(connection => clusterInfo(options.connect, connection, over.signal))
      } catch (error) {
        if (signal?.aborted) throw error
        if (hasCode(error, 'API_UNREACHABLE')) return nothing('Waiting', error.message)
        if (isStatus(error, 'NotFound') || isStatus(error, 'Forbidden'))
          return nothing('Waiting', `kube-public/cluster-info cannot be read: ${error.message}`)
        if (hasCode(error, 'API_STATUS')) return nothing('Waiting', error.message)
        const code = systemCode(error)
        if (code === undefined) throw error
        return nothing(code === 'ENOENT' ? 'Missing' : 'Unreadable', `${tokenFile}: ${code}`)
      } finally {
        timer.cancel()
        signal?.removeEventListener('abort', end)
      }
    },
  }
}

async function clusterInfo(
  connect: Connect,
  connection: ConnectionConfig,
  signal: AbortSignal,
): Promise<ConfigMap> {
  const transport = connect(connection)
  try {
    return await createClient(transport).get<ConfigMap>(resources.configMaps, target, signal)
  } finally {
    transport.closeConnections()
  }
}
