import { readFileSync } from 'node:fs'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { parseKubeconfig, selectContext } from '../../src/kube/kubeconfig.ts'
import { connectionConfig } from '../../src/kube/kubeconfig-connection.ts'
import type { ConnectionConfig } from '../../src/kube/transport.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'

/** An object or a Status, as far as tests look into it. `message` is the whole body when that is no JSON. */
export interface AnswerBody {
  message?: string
  reason?: string
  metadata?: { name?: string; resourceVersion?: string; continue?: string }
  items?: { metadata: { name: string } }[]
  status?: { conditions?: { type: string; reason?: string; message?: string }[] }
}

export interface Answer {
  status: number
  body: AnswerBody
}

/** Raw requests over a real socket: what no well-behaved client would send. */
export interface ApiConnection {
  /** An object goes as JSON, bytes go as they are. */
  send(method: string, url: string, body?: object | Uint8Array, contentType?: string): Promise<Answer>
  close(): void
}

export function connectionOf(kubeconfig: string): Promise<ConnectionConfig> {
  const parsed = parseKubeconfig(readFileSync(kubeconfig, 'utf8'), kubeconfig)
  return connectionConfig(selectContext(parsed), kubeconfig, hostPorts)
}

export function connect(config: ConnectionConfig): ApiConnection {
  const transport = connectUndici(config)
  return {
    async send(method, url, body, contentType = 'application/json') {
      const bytes = body instanceof Uint8Array ? body : new TextEncoder().encode(JSON.stringify(body))
      const headers = { accept: 'application/json', ...(body && { 'content-type': contentType }) }
      const response = await transport.request({ method, url, headers, ...(body && { body: bytes }) })
      const chunks: Uint8Array[] = []
      if (response.body instanceof Uint8Array) chunks.push(response.body)
      else for await (const chunk of response.body) chunks.push(chunk)
      return { status: response.status, body: bodyOf(Buffer.concat(chunks).toString()) }
    },
    close: () => transport.closeConnections(),
  }
}

function bodyOf(text: string): AnswerBody {
  return text.startsWith('{') ? JSON.parse(text) : { message: text }
}
