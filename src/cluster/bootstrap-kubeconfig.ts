import { isStatus, type KubeClient } from '../kube/client.ts'
import { encodeKubeconfig } from '../kube/encode-kubeconfig.ts'
import { parseKubeconfig, selectContext } from '../kube/kubeconfig.ts'
import { resources, type Secret as SecretObject } from '../kube/types.ts'
import type { Clock, Disk, Random } from '../ports.ts'
import { bootstrapTokenExpiry, createBootstrapToken } from './bootstrap-token.ts'
import { readIfThere, replaceFile } from './pki-files.ts'

export interface BootstrapKubeconfigOptions {
  path: string
  server: string
  /** PEM. */
  certificateAuthority: string
  client: KubeClient
  disk: Disk
  clock: Clock
  random: Random
}

/** kubeadm's default time to live of a token, milliseconds. */
export const tokenLifetime = 24 * 3_600_000

/**
 * Makes sure that `bootstrap.kubeconfig` holds a token that is good for at least half its life, and that it points to
 * this server. Returns the milliseconds after which it wants to be called again.
 */
export async function ensureBootstrapKubeconfig(options: BootstrapKubeconfigOptions): Promise<number> {
  const now = options.clock.now()
  const left = (await expiryOfCurrentToken(options)) - now
  if (left > tokenLifetime / 2) return left - tokenLifetime / 2
  const made = createBootstrapToken(now + tokenLifetime, options.random)
  await options.client.create(resources.secrets, made.object)
  const text = encodeKubeconfig({
    server: options.server,
    certificateAuthority: { pem: options.certificateAuthority },
    user: { token: made.token },
    names: {
      cluster: 'kubernetes',
      user: 'tls-bootstrap-token-user',
      context: 'tls-bootstrap-token-user@kubernetes',
    },
  })
  await replaceFile(options.disk, options.path, text.reveal(), 0o600)
  return tokenLifetime / 2
}

/** 0 when there is no usable token: no file, another server, a Secret that is gone or says otherwise. */
async function expiryOfCurrentToken(options: BootstrapKubeconfigOptions): Promise<number> {
  const text = await readIfThere(options.disk, options.path)
  if (text === undefined) return 0
  const { cluster, user } = selectContext(parseKubeconfig(text, options.path))
  const [id, secret] = (user.token?.reveal() ?? '').split('.')
  if (!id || cluster.server !== options.server) return 0
  try {
    const object = await options.client.get<SecretObject>(resources.secrets, {
      name: `bootstrap-token-${id}`,
      namespace: 'kube-system',
    })
    const agrees = Buffer.from(object.data?.['token-secret'] ?? '', 'base64').toString() === secret
    return agrees ? bootstrapTokenExpiry(object) : 0
  } catch (error) {
    if (isStatus(error, 'NotFound')) return 0
    throw error
  }
}
