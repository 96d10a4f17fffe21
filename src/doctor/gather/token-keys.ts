/** By which keys tokens of service accounts are verified, and by which those in Secrets were signed. No token is kept. */
import { type KubeClient, listAll } from '../../kube/client.ts'
import { isRecord } from '../../kube/json.ts'
import { resources, type Secret } from '../../kube/types.ts'
import type { TokenKeys } from '../artifacts/cluster-artifacts.ts'

export async function readTokenKeys(client: KubeClient): Promise<TokenKeys> {
  const [keySet, { items }] = await Promise.all([
    client.raw('/openid/v1/jwks'),
    listAll<Secret>(client, resources.secrets, { fieldSelector: 'type=kubernetes.io/service-account-token' }),
  ])
  const tokens = items.flatMap(({ metadata: { namespace, name }, data }) => {
    const keyId = keyIdIn(Buffer.from(data?.token ?? '', 'base64').toString('latin1'))
    return keyId === undefined ? [] : [{ secret: `${namespace}/${name}`, keyId }]
  })
  return { keyIds: keyIdsIn(keySet), tokens }
}

function keyIdsIn(text: string): string[] {
  const keys = parsed(text)?.keys
  return (Array.isArray(keys) ? keys : []).flatMap(key =>
    isRecord(key) && typeof key.kid === 'string' ? [key.kid] : [],
  )
}

/** The header's `kid`. */
function keyIdIn(token: string): string | undefined {
  const [header = ''] = token.split('.', 1)
  const keyId = parsed(Buffer.from(header, 'base64url').toString('utf8'))?.kid
  return typeof keyId === 'string' ? keyId : undefined
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined // What is no JSON names no key.
  }
}
