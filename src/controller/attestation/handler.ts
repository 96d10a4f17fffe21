/** The attestation over HTTP: two paths beside the API's own, for machines that have no credential yet. */
import { hasCode } from '../../errors.ts'
import { decodeBegin, decodeFinish, encodeChallenge } from '../../keys/attestation/encoding.ts'
import { attestationPaths } from '../../keys/attestation/messages.ts'
import type { ApiRequest, ApiResponse, Peer } from '../../kube/transport.ts'
import type { Clock, Log } from '../../ports.ts'
import { AttemptLimit } from './attempt-limit.ts'
import type { AttestationService } from './service.ts'

/** Bytes. */
const mostBody = 16_384

export type HandleAttestation = (request: ApiRequest, peer: Peer) => Promise<ApiResponse>

/** Whether a request is meant for the attestation. */
export function isAttestation({ url }: Pick<ApiRequest, 'url'>): boolean {
  return Object.values(attestationPaths).some(path => url === path)
}

/** Never rejects. */
export function attestationHandler(
  service: AttestationService,
  { clock, log }: { clock: Clock; log: Log },
): HandleAttestation {
  const limit = new AttemptLimit(clock)
  async function answer({ url, body }: ApiRequest, { remoteAddress }: Peer): Promise<ApiResponse> {
    const message: unknown = JSON.parse(new TextDecoder().decode(body))
    if (url === attestationPaths.begin)
      return json(200, encodeChallenge(await service.begin(decodeBegin(message), remoteAddress)))
    return json(200, { ...(await service.finish(decodeFinish(message))) })
  }
  return async (request, peer) => {
    if (!isAttestation(request)) return json(404, { code: 'MALFORMED', message: 'there is no such path' })
    if (request.method !== 'POST') return json(405, { code: 'MALFORMED', message: 'only POST' })
    if ((request.body?.length ?? 0) > mostBody)
      return json(413, { code: 'MALFORMED', message: 'the message is too long' })
    if (!limit.take(peer.remoteAddress))
      return json(429, {
        code: 'BUSY',
        message: 'too many attempts from this address; try again in a minute',
      })
    try {
      return await answer(request, peer)
    } catch (error) {
      if (error instanceof SyntaxError)
        return json(400, { code: 'MALFORMED', message: 'the message is no JSON' })
      if (hasCode(error, 'ATTESTATION_REFUSED')) {
        const { code = 'NOT_PROVEN' } = error.details
        return json(code === 'MALFORMED' ? 400 : code === 'BUSY' ? 503 : 403, {
          code,
          message: error.message,
        })
      }
      // Not for somebody whom nobody knows.
      log.error('an attestation failed', { error: String(error) })
      return json(503, { code: 'BUSY', message: 'the cluster cannot answer now; try again' })
    }
  }
}

function json(status: number, body: Record<string, unknown>): ApiResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: new TextEncoder().encode(JSON.stringify(body)),
  }
}
