import type { Certificate } from '../../x509/certificate.ts'

/** Versions that client-go takes; 1.20 and 1.21 know v1beta1 alone. */
export type ExecApiVersion = 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1'

/** What the agent's socket answers; the key is the node's own. */
export interface SocketCredential {
  clientCertificateData: string
  clientKeyData: string
  /** RFC 3339. */
  expirationTimestamp: string
}

/** Milliseconds after which client-go asks again at the latest, so that a certificate is replaced before its time too. */
const longest = 5 * 60_000
/** Milliseconds: client-go runs the plugin for every request once the time is past, so there is always some left. */
const shortest = 10_000

/**
 * Until when client-go may use the certificate without asking again, in milliseconds since the epoch: at most five minutes,
 * not much longer than until it is to be renewed (`deadline`), and never beyond its end.
 */
export function askAgainAt(
  leaf: Pick<Certificate, 'notBefore' | 'notAfter'>,
  deadline: number | undefined,
  now: number,
): number {
  // In its last tenth it is to be replaced at any moment: whoever holds it must hear of the new one in time.
  const lastTenth = leaf.notAfter - (leaf.notAfter - leaf.notBefore) / 10
  const due = deadline === undefined || deadline <= now ? lastTenth : Math.min(deadline, lastTenth)
  const wanted = Math.min(now + longest, Math.max(due, now + shortest))
  return Math.min(wanted, leaf.notAfter)
}

/** The object that the plugin prints. */
export function execCredential(apiVersion: ExecApiVersion, status: SocketCredential): string {
  return `${JSON.stringify({ kind: 'ExecCredential', apiVersion, spec: { interactive: false }, status })}\n`
}

/** The version that the caller asks for in KUBERNETES_EXEC_INFO, which client-go up to 1.21 need not set; undefined: none. */
export function wantedVersion(execInfo: string | undefined): ExecApiVersion | undefined {
  try {
    const { apiVersion } = JSON.parse(execInfo ?? '{}') as { apiVersion?: unknown }
    return apiVersion === 'client.authentication.k8s.io/v1' ||
      apiVersion === 'client.authentication.k8s.io/v1beta1'
      ? apiVersion
      : undefined
  } catch {
    return undefined // whoever calls is no client-go; the default serves him
  }
}
