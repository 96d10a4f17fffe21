import { Secret } from '../keys/secret.ts'
import { isRecord } from '../kube/json.ts'
import type { ConnectionConfig } from '../kube/transport.ts'

export type CredentialStatus =
  | { ok: true; credential: Pick<ConnectionConfig, 'clientCertificate' | 'bearerToken'> }
  | { ok: false; problem: string }

/**
 * Reads the `status` of an ExecCredential (client.authentication.k8s.io/v1), by client-go's rules and
 * one more: a credential that has expired already is refused here, where client-go uses it and asks again for each request.
 * `now`: milliseconds since the epoch. No value gets into `problem`.
 */
export function readCredentialStatus(status: unknown, now: number): CredentialStatus {
  if (!isRecord(status)) return { ok: false, problem: 'gave no status' }
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status
  for (const [name, value] of Object.entries({
    token,
    clientCertificateData,
    clientKeyData,
    expirationTimestamp,
  })) {
    if (value !== undefined && value !== null && typeof value !== 'string')
      return { ok: false, problem: `gave a ${name} that is no string` }
  }
  if (Boolean(clientCertificateData) !== Boolean(clientKeyData))
    return { ok: false, problem: 'gave only a certificate or only a key, not both' }
  if (!token && !clientCertificateData)
    return { ok: false, problem: 'gave neither a token nor a certificate with its key' }
  if (expirationTimestamp) {
    const expires = Date.parse(String(expirationTimestamp))
    if (Number.isNaN(expires)) return { ok: false, problem: 'gave an expirationTimestamp that is no time' }
    if (expires <= now)
      return { ok: false, problem: `gave a credential that expired at ${new Date(expires).toISOString()}` }
  }
  const clientCertificate = {
    certificate: String(clientCertificateData),
    key: new Secret(String(clientKeyData)),
  }
  return {
    ok: true,
    credential: {
      ...(token ? { bearerToken: new Secret(String(token)) } : {}),
      ...(clientCertificateData ? { clientCertificate } : {}),
    },
  }
}
