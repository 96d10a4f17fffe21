/** Secrets of service accounts, from the time when tokens lay in Secrets: who mounts one takes its trust from it. */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { resources, type Secret } from '../kube/types.ts'

export const serviceAccountTokenType = 'kubernetes.io/service-account-token'

/**
 * The CAs in each, PEM. One that has none yet takes nobody's trust anywhere: Kubernetes' token controller fills it with
 * what kube-root-ca.crt holds by then.
 */
export function authoritiesInTokens(secrets: readonly Secret[]): string[] {
  return filled(secrets).map(({ data }) => decoded(data?.['ca.crt']))
}

/** Writes these CAs (PEM) into each that says otherwise. One that is gone meanwhile is left alone. */
export async function publishInTokens(
  client: KubeClient,
  secrets: readonly Secret[],
  pem: string,
): Promise<void> {
  for (const { metadata, data } of filled(secrets)) {
    if (decoded(data?.['ca.crt']) === pem) continue
    const { name, namespace = '' } = metadata
    const change = { data: { 'ca.crt': Buffer.from(pem).toString('base64') } }
    try {
      await client.patch(resources.secrets, { name, namespace }, 'merge', change)
    } catch (error) {
      if (!isStatus(error, 'NotFound')) throw error
    }
  }
}

function filled(secrets: readonly Secret[]): Secret[] {
  return secrets.filter(
    ({ type, data }) => type === serviceAccountTokenType && (data?.['ca.crt'] ?? '') !== '',
  )
}

function decoded(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString()
}
