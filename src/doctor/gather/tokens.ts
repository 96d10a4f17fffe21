import { type KubeClient, listAll } from '../../kube/client.ts'
import { resources, type Secret } from '../../kube/types.ts'
import type { BootstrapTokenFacts } from '../artifacts/cluster-artifacts.ts'

const prefix = 'bootstrap-token-'

/**
 * The Secrets that are bootstrap tokens by name, whatever their type: one of the wrong type is a fault to find (A05). The
 * secret part is dropped here.
 */
export async function listBootstrapTokens(client: KubeClient): Promise<BootstrapTokenFacts[]> {
  const { items } = await listAll<Secret>(client, resources.secrets, { namespace: 'kube-system' })
  return items.filter(({ metadata }) => metadata.name.startsWith(prefix)).map(bootstrapTokenFacts)
}

function bootstrapTokenFacts({ metadata, type = '', data = {} }: Secret): BootstrapTokenFacts {
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString('utf8')
  return {
    name: metadata.name,
    type,
    tokenId: text('token-id'),
    hasSecret: text('token-secret') !== '',
    expiration: text('expiration'),
    authentication: text('usage-bootstrap-authentication') === 'true',
    signing: text('usage-bootstrap-signing') === 'true',
    groups: text('auth-extra-groups').split(',').filter(Boolean),
  }
}
