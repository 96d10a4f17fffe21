import type { ApiResponse } from '../kube/transport.ts'
import { securityHeaders } from './access/security-headers.ts'

const encoder = new TextEncoder()

export function answer(status: number, contentType: string, body: Uint8Array | string): ApiResponse {
  return {
    status,
    headers: { ...securityHeaders, 'content-type': contentType },
    body: typeof body === 'string' ? encoder.encode(body) : body,
  }
}

export function answerJson(status: number, value: unknown): ApiResponse {
  return answer(status, 'application/json', JSON.stringify(value))
}

export function refuse(status: number, message: string): ApiResponse {
  return answerJson(status, { message })
}
