/** The attestation over HTTP: two paths beside the API's own, for machines that have no credential yet. */
import { hasCode } from '../../errors.ts'
import { decodeBegin, decodeFinish, encodeChallenge } from '../../keys/attestation/encoding.ts'
import { attestationPaths } from '../../keys/attestation/messages.ts'
import type { ApiRequest, ApiResponse, Peer } from '../../kube/transport.ts'
import type { Clock, Log } from '../../ports.ts'
import { AttemptLimit } from './attempt-limit.ts'
import { type AttestationResult, resultOf } from './metrics.ts'
import type { AttestationService } from './service.ts'

export interface AttestationHandlerOptions {
  clock: Clock
  log: Log
  /** Told what each machine was answered. */
  count?(result: AttestationResult): void
}

/** Bytes. */
const mostBody = 16_384

export type HandleAttestation = (request: ApiRequest, peer: Peer) => Promise<ApiResponse>

/** Whether a request is meant for the attestation. */
export function isAttestation({ url }: Pick<ApiRequest, 'url'>): boolean {
  return Object.values(attestationPaths).some(path => url === path)
}

interface Answer {
  status: number
  result: AttestationResult
  body: Record<string, unknown>
}

/** Never rejects. */
export function attestationHandler(
  service: AttestationService,
  { clock, log, count }: AttestationHandlerOptions,
): HandleAttestation {
  const limit = new AttemptLimit(clock)

  async function answer({ method, url, body }: ApiRequest, { remoteAddress }: Peer): Promise<Answer> {
    if (method !== 'POST') return refuse(405, 'MALFORMED', 'only POST')
    if ((body?.length ?? 0) > mostBody) return refuse(413, 'MALFORMED', 'the message is too long')
    if (!limit.take(remoteAddress))
      return refuse(429, 'BUSY', 'too many attempts from this address; try again in a minute')
    const message: unknown = JSON.parse(new TextDecoder().decode(body))
    if (url === attestationPaths.begin) {
      const challenge = await service.begin(decodeBegin(message), remoteAddress)
      return { status: 200, result: 'challenge', body: encodeChallenge(challenge) }
    }
    return { status: 200, result: 'token', body: { ...(await service.finish(decodeFinish(message))) } }
  }

  function refusalOf(error: unknown): Answer {
    if (error instanceof SyntaxError) return refuse(400, 'MALFORMED', 'the message is no JSON')
    if (hasCode(error, 'ATTESTATION_REFUSED')) {
      const code = resultOf(error.details.code)
      return refuse(code === 'MALFORMED' ? 400 : code === 'BUSY' ? 503 : 403, code, error.message)
    }
    // Not for somebody whom nobody knows.
    log.error('an attestation failed', { error: String(error) })
    return { ...refuse(503, 'BUSY', 'the cluster cannot answer now; try again'), result: 'ERROR' }
  }

  return async (request, peer) => {
    if (!isAttestation(request)) return json(refuse(404, 'MALFORMED', 'there is no such path'))
    const given = await answer(request, peer).catch(refusalOf)
    count?.(given.result)
    return json(given)
  }
}

function refuse(status: number, code: AttestationResult, message: string): Answer {
  return { status, result: code, body: { code, message } }
}

function json({ status, body }: Answer): ApiResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: new TextEncoder().encode(JSON.stringify(body)),
  }
}
