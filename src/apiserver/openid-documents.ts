/** What others need to verify service account tokens themselves: OpenID discovery and the keys. */
import { createPublicKey } from 'node:crypto'
import type { ApiResponse } from '../kube/transport.ts'
import type { TokenIssuer } from './access/authentication/service-account/token-issuer.ts'

const keysPath = '/openid/v1/jwks'
const algorithm = 'ES256'

function document(contentType: string, body: unknown): ApiResponse {
  const headers = { 'content-type': contentType, 'cache-control': 'public, max-age=3600' }
  return { status: 200, headers, body: new TextEncoder().encode(JSON.stringify(body)) }
}

function keySet({ keys }: TokenIssuer): unknown {
  return {
    keys: keys.map(({ keyId, spki }) => {
      const { kty, crv, x, y } = createPublicKey({
        key: Buffer.from(spki),
        format: 'der',
        type: 'spki',
      }).export({ format: 'jwk' })
      return { use: 'sig', kty, kid: keyId, crv, alg: algorithm, x, y }
    }),
  }
}

/**
 * The answer to a GET of the two paths, undefined for others. `server`: the API's URL as clients reach it, e.g.
 * `https://127.0.0.1:6443`.
 */
export function openIdDocument(path: string, issuer: TokenIssuer, server: string): ApiResponse | undefined {
  const plain = path.replace(/\/$/, '')
  if (plain === keysPath) return document('application/jwk-set+json', keySet(issuer))
  if (plain !== '/.well-known/openid-configuration') return undefined
  return document('application/json', {
    issuer: issuer.issuer,
    jwks_uri: `${server}${keysPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [algorithm],
  })
}
