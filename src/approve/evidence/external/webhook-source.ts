/** A webhook: GET URL?node=NAME answers 200 with JSON, or 404 for a node that it does not know. */
import type { Connect, Transport } from '../../../kube/transport.ts'
import { type EvidenceSource, longestAnswer } from './source.ts'

export interface WebhookOptions {
  name: string
  timeout: number
  /** https. */
  url: string
  transport: Transport
}

/** `connect` with the webhook's own certificate authority and token. */
export function webhookTransport(
  connect: Connect,
  url: string,
  trust: Omit<Parameters<Connect>[0], 'server'>,
) {
  return connect({ ...trust, server: new URL(url).origin })
}

export function webhookSource({ name, timeout, url, transport }: WebhookOptions): EvidenceSource {
  return {
    name,
    timeout,
    async ask(nodeName, signal) {
      const asked = new URL(url)
      asked.searchParams.set('node', nodeName)
      const { status, body } = await transport.request({
        method: 'GET',
        url: asked.pathname + asked.search,
        headers: { accept: 'application/json', 'user-agent': 'rollcall' },
        signal,
        mostBody: longestAnswer,
      })
      const bytes = await bounded(body)
      if (status === 404) return undefined
      if (status !== 200) throw new Error(`it answered HTTP ${status}`)
      return bytes
    },
  }
}

async function bounded(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body instanceof Uint8Array ? [body] : body) {
    length += chunk.length
    if (length > longestAnswer) throw new Error(`its answer is longer than ${longestAnswer} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
