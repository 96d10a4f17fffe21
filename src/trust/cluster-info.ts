/** ConfigMap kube-public/cluster-info: the kubeconfig a joining node starts from, signed by each bootstrap token. */

import { detachedSignature } from '../keys/detached-jws.ts'
import type { ConfigMap, Secret } from '../kube/types.ts'
import { signingToken } from './bootstrap-token.ts'

const signaturePrefix = 'jws-kubeconfig-'

/**
 * The ConfigMap with exactly the signatures it should carry, or undefined when it already does or has no kubeconfig
 * (C-61). `now` in milliseconds since the epoch.
 */
export function signedClusterInfo(
  clusterInfo: ConfigMap,
  tokens: readonly Secret[],
  now: number,
): ConfigMap | undefined {
  const kubeconfig = clusterInfo.data?.kubeconfig
  if (!kubeconfig) return undefined
  const current = clusterInfo.data ?? {}
  const data = Object.fromEntries(Object.entries(current).filter(([key]) => !key.startsWith(signaturePrefix)))
  for (const secret of tokens) {
    const token = signingToken(secret, now)
    if (token) data[signaturePrefix + token.id] = detachedSignature(kubeconfig, token.id, token.key)
  }
  return sameData(data, current) ? undefined : { ...clusterInfo, data }
}

function sameData(one: Record<string, string>, other: Record<string, string>): boolean {
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every(key => one[key] === other[key])
}
