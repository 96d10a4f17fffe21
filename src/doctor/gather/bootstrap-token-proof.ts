/** Whether the API's controllers know the bootstrap token of a node: by cluster-info, which anybody may read. */
import { timingSafeEqual } from 'node:crypto'
import { detachedSignature } from '../../keys/detached-jws.ts'
import { Secret } from '../../keys/secret.ts'
import { createClient } from '../../kube/client.ts'
import type { ConnectionConfig, Transport } from '../../kube/transport.ts'
import { type ConfigMap, resources } from '../../kube/types.ts'
import type { Gathered } from '../artifacts/artifacts.ts'
import type { TokenProof } from '../artifacts/node-artifacts.ts'
import { attemptOptional } from './attempt.ts'

/**
 * The controller bootstrap-signer signs cluster-info with each living token (C-61): a signature of this id that is not
 * made with this secret says that the secret is another.
 */
export async function proveToken(
  { bearerToken }: Pick<ConnectionConfig, 'bearerToken'>,
  anonymous: Transport,
): Promise<Gathered<TokenProof>> {
  const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(bearerToken?.reveal() ?? '') ?? []
  if (id === undefined || secret === undefined)
    return { status: 'absent', reason: 'the bootstrap kubeconfig holds no bootstrap token' }
  return attemptOptional(async () => {
    const { data = {} } = await createClient(anonymous).get<ConfigMap>(resources.configMaps, {
      namespace: 'kube-public',
      name: 'cluster-info',
    })
    const signature = data[`jws-kubeconfig-${id}`]
    const own = detachedSignature(data.kubeconfig ?? '', id, new Secret(secret))
    return {
      tokenId: id,
      signed: signature !== undefined,
      secretFits: signature !== undefined && same(signature, own),
    }
  }, 'ConfigMap kube-public/cluster-info')
}

function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
