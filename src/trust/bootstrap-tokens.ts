import type { KubeClient } from '../kube/client.ts'
import { type Reflector, startReflector } from '../kube/reflector.ts'
import { resources, type Secret } from '../kube/types.ts'
import type { Clock, Log, Random } from '../ports.ts'
import { bootstrapTokenType } from './bootstrap-token.ts'

export interface TokenControllerOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
}

/** The Secrets of bootstrap tokens; by their type, whatever their name (C-60). */
export function followBootstrapTokens(
  options: TokenControllerOptions,
  onChange: (name: string) => void,
): Reflector<Secret> {
  const { client, clock, random, log } = options
  return startReflector<Secret>({
    client,
    clock,
    random,
    log,
    resource: resources.secrets,
    selectors: { namespace: 'kube-system', fieldSelector: `type=${bootstrapTokenType}` },
    onChange: (_type, secret) => onChange(secret.metadata.name),
  })
}
