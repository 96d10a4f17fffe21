import type { CertificateManagerOptions } from '../hold/certificate-manager.ts'
import { type AttemptKey, requestCertificate } from '../join/request-certificate.ts'
import type { KeyAlgorithm } from '../keys/private-key.ts'
import type { KubeClient } from '../kube/client.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'

type Request = CertificateManagerOptions['request']

export interface AskParts {
  options: Pick<AgentOptions, 'watchTimeoutSeconds'>
  ports: Pick<AgentPorts, 'clock' | 'random'>
  keyAlgorithm: KeyAlgorithm
}

/** A certificate that the cluster issued for a new key, with that key. Rejects as requestCertificate does. */
export async function issuedPair(
  { options: { watchTimeoutSeconds }, ports: { clock, random }, keyAlgorithm }: AskParts,
  client: KubeClient,
  { template, signal }: Pick<Parameters<Request>[0], 'template' | 'signal'>,
  newKey?: () => Promise<AttemptKey>,
): ReturnType<Request> {
  const issued = await requestCertificate({
    template,
    keyAlgorithm,
    client,
    clock,
    random,
    signal,
    ...(newKey && { newKey }),
    ...(watchTimeoutSeconds !== undefined && { watchSeconds: watchTimeoutSeconds }),
  })
  return { chain: issued.chain, key: issued.key.stored }
}
