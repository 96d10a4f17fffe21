import type { CertificateStatus } from '../../hold/certificate-status.ts'
import type { KeyPair } from '../../hold/key-pair.ts'
import { readTokenKey } from '../../keys/token-key.ts'
import type { Clock } from '../../ports.ts'
import { askAgainAt, type SocketCredential } from './exec-credential.ts'
import type { SocketAnswer, SocketRequest } from './local-doors.ts'

/** Of the manager of the client certificate, what is asked here. */
export interface HeldCertificate {
  current(): KeyPair | undefined
  status(): CertificateStatus
  onChange(listener: () => void): () => void
}

/** Milliseconds that one request may wait, whatever it asks for. */
const longestWait = 60_000

/**
 * Answers `GET /v1/credential?wait=SECONDS`: the client certificate in force with its key, waiting for one where there is
 * none, as client-go takes a failure of its plugin for the end of a request. 503 says what is missing.
 */
export function credentialAnswer(
  held: HeldCertificate,
  clock: Clock,
): (request: SocketRequest) => Promise<SocketAnswer> {
  return async ({ method, url, signal }) => {
    const { pathname, searchParams } = new URL(url, 'http://agent')
    if (method !== 'GET' || pathname !== '/v1/credential') return problem(404, 'GET /v1/credential alone')
    const asked = Number(searchParams.get('wait') ?? 0) * 1000
    const wait = Math.min(longestWait, Math.max(0, Number.isFinite(asked) ? asked : 0))
    await usable(held, clock, wait, signal)
    const pair = inForce(held)
    if (!pair) return problem(503, whyNone(held.status()))
    if (readTokenKey(pair.key))
      return problem(
        409,
        'the key is in a token and never leaves it: run the agent with --beside-kubelet proxy',
      )
    return { status: 200, body: JSON.stringify(credentialOf(pair, held.status().deadline, clock.now())) }
  }
}

function credentialOf(pair: KeyPair, deadline: number | undefined, now: number): SocketCredential {
  return {
    clientCertificateData: pair.chain,
    clientKeyData: pair.key.reveal(),
    expirationTimestamp: new Date(askAgainAt(pair.leaf, deadline, now)).toISOString(),
  }
}

/** One that the API has answered 401 to is none. */
function inForce(held: HeldCertificate): KeyPair | undefined {
  return held.status().state === 'Rejected' ? undefined : held.current()
}

function usable(held: HeldCertificate, clock: Clock, wait: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (inForce(held) || wait === 0 || signal.aborted) return resolve()
    const timer = clock.after(wait, end)
    const unlisten = held.onChange(() => inForce(held) && end())
    signal.addEventListener('abort', end, { once: true })
    function end() {
      timer.cancel()
      unlisten()
      signal.removeEventListener('abort', end)
      resolve()
    }
  })
}

function whyNone({ state, lastError, requesting }: CertificateStatus): string {
  const doing = requesting === undefined ? '' : `, one is being asked for (${requesting})`
  return `the node has no client certificate now (${state}${doing})${lastError === undefined ? '' : `: ${lastError}`}`
}

function problem(status: number, error: string): SocketAnswer {
  return { status, body: JSON.stringify({ error }) }
}
