import { hasCode } from '../errors.ts'
import type { Secret } from '../keys/secret.ts'
import { isStatus, type KubeClient } from '../kube/client.ts'
import { encodeKubeconfig, kubeadmBootstrapNames } from '../kube/encode-kubeconfig.ts'
import { parseKubeconfig, type SelectedContext, selectContext } from '../kube/kubeconfig.ts'
import { resources, type Secret as SecretObject } from '../kube/types.ts'
import type { Clock, Disk, Random } from '../ports.ts'
import { bootstrapTokenSecretName, tokenExpiry } from '../trust/bootstrap-token.ts'
import { createBootstrapToken } from './bootstrap-token.ts'
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
  const current = await currentToken(options)
  const left = current.expiresAt - now
  if (current.token && left > tokenLifetime / 2) {
    // The API may have come up at another port, or be trusted by other CAs: the token is as good there.
    const { server, certificateAuthority } = options
    if (current.server !== server || current.certificateAuthority !== certificateAuthority)
      await writeKubeconfig(current.token, options)
    return left - tokenLifetime / 2
  }
  const made = createBootstrapToken(now + tokenLifetime, options.random)
  await options.client.create(resources.secrets, made.object)
  await writeKubeconfig(made.token, options)
  return tokenLifetime / 2
}

async function writeKubeconfig(token: Secret, options: BootstrapKubeconfigOptions): Promise<void> {
  const text = encodeKubeconfig({
    server: options.server,
    certificateAuthority: { pem: options.certificateAuthority },
    user: { token },
    names: kubeadmBootstrapNames,
  })
  await replaceFile(options.disk, options.path, text.reveal(), 0o600)
}

interface CurrentToken {
  /** Absent when there is no usable one: no file, a Secret that is gone or says otherwise. */
  token?: Secret
  /** Milliseconds since the epoch. */
  expiresAt: number
  /** Where the file points to. */
  server: string
  /** PEM that it trusts, where it is in the file. */
  certificateAuthority?: string
}

const none: CurrentToken = { expiresAt: 0, server: '' }

async function currentToken(options: BootstrapKubeconfigOptions): Promise<CurrentToken> {
  const text = await readIfThere(options.disk, options.path)
  if (text === undefined) return none
  const selected = selectOwnContext(text, options.path)
  if (!selected) return none
  const { cluster, user } = selected
  const authority = cluster.certificateAuthority
  const [id, secret] = (user.token?.reveal() ?? '').split('.')
  if (!id || !user.token) return none
  const target = { name: bootstrapTokenSecretName(id), namespace: 'kube-system' }
  try {
    const object = await options.client.get<SecretObject>(resources.secrets, target)
    const stored = Buffer.from(object.data?.['token-secret'] ?? '', 'base64').toString()
    if (stored !== secret) return none
    return {
      token: user.token,
      expiresAt: tokenExpiry(object) ?? Number.POSITIVE_INFINITY,
      server: cluster.server,
      ...(authority && 'data' in authority && { certificateAuthority: authority.data.reveal() }),
    }
  } catch (error) {
    if (isStatus(error, 'NotFound')) return none
    throw error
  }
}

/** Undefined for a file that somebody spoiled: it is ours, and is then written anew. */
function selectOwnContext(text: string, path: string): SelectedContext | undefined {
  try {
    return selectContext(parseKubeconfig(text, path))
  } catch (error) {
    if (hasCode(error, 'KUBECONFIG_INVALID')) return undefined
    throw error
  }
}
