/** Requests over TLS as they are written in a case, to any server. No retries, nothing interpreted. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, request as sendHttps } from 'node:https'
import type { ServerUnderTest } from './server-under-test.ts'

/** Who asks: the administrator, nobody, a token's holder, or whom the administrator impersonates. */
export type Identity =
  | 'admin'
  | 'anonymous'
  | { bearer: string }
  | { user: string; groups?: string[]; uid?: string; extra?: Record<string, string> }

export interface Sent {
  as?: Identity
  method: string
  /** Path and query. */
  url: string
  headers?: Record<string, string>
  body?: Uint8Array
}

export interface Answered {
  status: number
  headers: IncomingHttpHeaders
  /** Parsed where it says that it is JSON, else text. */
  body: unknown
}

export interface WatchEvent {
  type: string
  object: unknown
}

export interface Watched extends Answered {
  events: WatchEvent[]
}

export interface Wire {
  send(sent: Sent): Promise<Answered>
  /** Reads events until `enough` says so (asked before each, also before the first) or the server ends the stream. */
  watch(sent: Sent, enough: (events: readonly WatchEvent[]) => boolean): Promise<Watched>
  close(): void
}

/** Milliseconds of silence after which a request fails. */
const PATIENCE = 30_000

export function wireTo({ url, ca, adminCredential }: ServerUnderTest): Wire {
  const common = { ca, keepAlive: true, maxSockets: 8 }
  const { certificate: cert, key } = adminCredential
  const holder = new Agent({ ...common, cert, key: key.reveal() })
  const nobody = new Agent(common)
  return {
    async send(sent) {
      const response = await ask(sent)
      const text = await textOf(response)
      return { ...headOf(response), body: isJson(response) && text !== '' ? JSON.parse(text) : text }
    },
    async watch(sent, enough) {
      const response = await ask(sent)
      if (response.statusCode !== 200) {
        const text = await textOf(response)
        return { ...headOf(response), body: isJson(response) ? JSON.parse(text) : text, events: [] }
      }
      const events = await eventsOf(response, enough)
      response.destroy()
      return { ...headOf(response), body: undefined, events }
    },
    close() {
      holder.destroy()
      nobody.destroy()
    },
  }

  function ask({ as = 'admin', method, url: path, headers, body }: Sent): Promise<IncomingMessage> {
    const target = new URL(url)
    const isHolder = as === 'admin' || (typeof as === 'object' && 'user' in as)
    return new Promise((resolve, reject) => {
      const request = sendHttps(
        {
          host: target.hostname,
          port: target.port,
          path,
          method,
          agent: isHolder ? holder : nobody,
          timeout: PATIENCE,
          headers: {
            accept: 'application/json',
            ...identityHeaders(as),
            ...headers,
            ...(body && { 'content-length': String(body.length) }),
          },
        },
        resolve,
      )
      request.on('timeout', () => request.destroy(new Error(`${method} ${path}: no answer`)))
      request.on('error', reject)
      request.end(body)
    })
  }
}

/** What says who asks; a client certificate is not among it. */
export function identityHeaders(as: Identity): Record<string, string | string[]> {
  if (typeof as === 'string') return {}
  if ('bearer' in as) return { authorization: `Bearer ${as.bearer}` }
  const extra = Object.entries(as.extra ?? {}).map(([key, value]): [string, string] => [
    `impersonate-extra-${encodeURIComponent(key)}`,
    value,
  ])
  return {
    'impersonate-user': as.user,
    ...(as.groups && { 'impersonate-group': as.groups }),
    ...(as.uid && { 'impersonate-uid': as.uid }),
    ...Object.fromEntries(extra),
  }
}

const headOf = ({ statusCode = 0, headers }: IncomingMessage) => ({ status: statusCode, headers })

const isJson = ({ headers }: IncomingMessage) => /^application\/json\b/.test(headers['content-type'] ?? '')

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of response) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks).toString()
}

async function eventsOf(
  response: IncomingMessage,
  enough: (events: readonly WatchEvent[]) => boolean,
): Promise<WatchEvent[]> {
  const events: WatchEvent[] = []
  if (enough(events)) return events
  let rest = ''
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      events.push(JSON.parse(line) as WatchEvent)
      if (enough(events)) return events
    }
  }
  return events
}
