import { inProcessTransport } from '../../src/apiserver/in-process-transport.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../src/testing/embedded-cluster.ts'
import type { Answered, Sent, WatchEvent, Wire } from './wire.ts'
import { identityHeaders } from './wire.ts'

/** The same API without HTTP, TLS and disk: hundreds of sequences in a few seconds. Its clock stands still. */
export async function embeddedWire(): Promise<Wire> {
  const cluster = await startEmbeddedCluster()
  const admin = await cluster.transportAs('kubernetes-admin', 'kubeadm:cluster-admins')
  const nobody = inProcessTransport(cluster.api, { remoteAddress: '127.0.0.1' })
  const ask = ({ as = 'admin', method, url, headers, body }: Sent) => {
    const isHolder = as === 'admin' || (typeof as === 'object' && 'user' in as)
    const sent = { accept: 'application/json', ...joined(identityHeaders(as)), ...headers }
    return (isHolder ? admin : nobody).request({ method, url, headers: sent, ...(body && { body }) })
  }
  return {
    async send(sent) {
      const { status, headers, body } = await ask(sent)
      if (!(body instanceof Uint8Array))
        throw new TypeError(`${sent.url}: a stream where a whole body belongs`)
      return { status, headers, body: parsed(headers, Buffer.from(body).toString()) }
    },
    async watch(sent, enough) {
      const { status, headers, body } = await ask(sent)
      if (body instanceof Uint8Array)
        return { status, headers, body: parsed(headers, Buffer.from(body).toString()), events: [] }
      return { status, headers, body: undefined, events: await eventsOf(body, enough) }
    },
    close: () => void end(cluster),
  }
}

const end = (cluster: EmbeddedCluster) => cluster.close()

/** As the HTTP adapter joins repeated headers of impersonation. */
const joined = (headers: Record<string, string | string[]>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join('\n') : value]),
  )

const parsed = (headers: Answered['headers'], text: string): unknown =>
  /^application\/json\b/.test(headers['content-type'] ?? '') && text !== '' ? JSON.parse(text) : text

async function eventsOf(
  body: AsyncIterable<Uint8Array>,
  enough: (events: readonly WatchEvent[]) => boolean,
): Promise<WatchEvent[]> {
  const events: WatchEvent[] = []
  if (enough(events)) return events
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      events.push(JSON.parse(line) as WatchEvent)
      if (enough(events)) return events
    }
  }
  return events
}
