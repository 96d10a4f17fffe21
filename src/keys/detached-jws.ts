/** Detached JWS (RFC 7515, appendix F) with HS256: how cluster-info is signed by a bootstrap token (C-61). */
import { createHmac } from 'node:crypto'
import type { Secret } from './secret.ts'

/** `header..signature` over `payload`; `keyId` is the token's id. The header's bytes are those of Kubernetes. */
export function detachedSignature(payload: string, keyId: string, key: Secret): string {
  const header = base64url(JSON.stringify({ alg: 'HS256', kid: keyId }))
  const signature = createHmac('sha256', key.reveal())
    .update(`${header}.${base64url(payload)}`)
    .digest('base64url')
  return `${header}..${signature}`
}

const base64url = (text: string) => Buffer.from(text, 'utf8').toString('base64url')
