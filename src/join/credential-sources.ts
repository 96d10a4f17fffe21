import { RollcallError } from '../errors.ts'
import type { Reference } from '../kube/encode-kubeconfig.ts'
import type { ConnectionConfig } from '../kube/transport.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import type { AttemptKey } from './request-certificate.ts'

/** Why a bootstrap credential is wanted: never had a certificate, it lapsed, or the API answered 401 to it. */
export type AcquireReason = 'initial' | 'expired' | 'rejected'

export interface AcquireContext {
  reason: AcquireReason
  nodeName: string
  /** The key that the request will have, for sources that vouch for it; the same until there is a certificate. */
  key?(): Promise<AttemptKey>
  /** Ends the acquisition. */
  signal?: AbortSignal
}

export interface BootstrapCredential {
  /** Name of the source it came from. */
  source: string
  /** The API server, what to trust of it, and how to authenticate. */
  connection: ConnectionConfig
  /** The only key that it is good for; absent: any. */
  key?: AttemptKey
  /** How the source gives the CA; absent: only as the text in `connection`. */
  certificateAuthority?: Reference
}

/**
 * Why a source gave nothing: `Missing` (not there, may come), `Unreadable` (there, but not for us), `Invalid` (contents
 * that cannot be used), `NoCredential` (an API server, but nothing to authenticate with), `Waiting` (a provider that has
 * not answered yet, such as a plugin in a static pod).
 */
export type NothingReason = 'Missing' | 'Unreadable' | 'Invalid' | 'NoCredential' | 'Waiting'

export type Acquired =
  | { ok: true; credential: BootstrapCredential }
  | { ok: false; source: string; reason: NothingReason; message: string }

/**
 * One way to get a bootstrap credential: a kubeconfig file; later an exec plugin, a PKCS#11 token, a TPM, a socket.
 * `acquire` is called anew for every attempt and must not cache: what a source gives may have changed or lapsed.
 */
export interface CredentialSource {
  readonly name: string
  acquire(context: AcquireContext): Promise<Acquired>
}

/** How the source of this name says that it has nothing. */
export function nothingOf(source: string) {
  return (reason: NothingReason, message: string): Acquired => ({ ok: false, source, reason, message })
}

/** The ordered sources of one node. */
export interface CredentialChain {
  /**
   * The first credential that can be had and that the API did not reject before; when only rejected ones can be had, the
   * first of those, as a 401 may pass (a token that the API does not know yet). Rejects with CREDENTIAL_UNAVAILABLE
   * when no source gives any; the message holds every source's reason.
   */
  acquire(context: AcquireContext): Promise<BootstrapCredential>
  /** The API answered 401 to this credential. */
  reject(credential: BootstrapCredential): void
}

/** How many rejected credentials are remembered: more than sources that can be set up in earnest. */
const mostRejected = 64

/** A chain over the sources, in this order, evaluated anew at every call: it never sticks to a credential. */
export function createCredentialChain(sources: readonly CredentialSource[]): CredentialChain {
  const rejected = new Set<string>()
  return {
    async acquire(context) {
      const nothing: string[] = []
      let second: BootstrapCredential | undefined
      for (const source of sources) {
        const acquired = await source.acquire(context)
        if (!acquired.ok) nothing.push(`${acquired.source}: ${acquired.reason}: ${acquired.message}`)
        else if (!rejected.has(identityOf(acquired.credential))) return acquired.credential
        else second ??= acquired.credential
      }
      if (second) return second
      const why = nothing.length === 0 ? 'no source is configured' : nothing.join('; ')
      throw new RollcallError('CREDENTIAL_UNAVAILABLE', `No bootstrap credential can be had: ${why}`, {
        reason: context.reason,
        node: context.nodeName,
      })
    },
    reject(credential) {
      if (rejected.size >= mostRejected) rejected.clear()
      rejected.add(identityOf(credential))
    },
  }
}

/** Tells credentials apart without keeping them. */
function identityOf({ source, connection }: BootstrapCredential): string {
  const { bearerToken, clientCertificate } = connection
  const text = `${source}\n${bearerToken?.reveal() ?? ''}\n${clientCertificate?.certificate ?? ''}`
  return sha256Hex(new TextEncoder().encode(text))
}
