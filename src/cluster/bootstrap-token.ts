import { Secret } from '../keys/secret.ts'
import type { Secret as SecretObject } from '../kube/types.ts'
import type { Random } from '../ports.ts'
import { bootstrapTokenSecretName, bootstrapTokenType } from '../trust/bootstrap-token.ts'

/** kubeadm's group of bootstrap tokens for joining nodes; its bindings are made for it. */
export const bootstrapGroup = 'system:bootstrappers:kubeadm:default-node-token'

export interface BootstrapToken {
  id: string
  /** `id.secret`, what goes into a kubeconfig. */
  token: Secret
  object: SecretObject
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Characters of the token alphabet; bytes of 252 and above are drawn again, so that none is more likely. */
function randomCharacters(count: number, random: Random): string {
  let text = ''
  while (text.length < count) {
    for (const byte of random.bytes(count)) {
      if (byte < 252 && text.length < count) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** A new bootstrap token as the Secret that Kubernetes reads. `expiresAt` in milliseconds since the epoch. */
export function createBootstrapToken(expiresAt: number, random: Random): BootstrapToken {
  const id = randomCharacters(6, random)
  const secret = randomCharacters(16, random)
  const object: SecretObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: bootstrapTokenSecretName(id), namespace: 'kube-system' },
    type: bootstrapTokenType,
    data: {
      'token-id': base64(id),
      'token-secret': base64(secret),
      expiration: base64(`${new Date(expiresAt).toISOString().slice(0, 19)}Z`),
      'usage-bootstrap-authentication': base64('true'),
      'usage-bootstrap-signing': base64('true'),
      'auth-extra-groups': base64(bootstrapGroup),
      description: base64('Made by rollcall for joining nodes.'),
    },
  }
  return { id, token: new Secret(`${id}.${secret}`), object }
}
