import { RollcallError } from '../errors.ts'
import type { ApiRequest, ApiResponse, Transport } from '../kube/transport.ts'
import type { KubeObject, WatchEvent } from '../kube/types.ts'
import { json, refusal } from './in-memory-transport.ts'

/** One collection of a Kubernetes API, for clients under test: lists by page, watches, and fails on command. */
export interface CollectionServer extends Transport {
  /** All requests so far as `GET /path?query`. */
  readonly requests: string[]
  objects(): KubeObject[]
  /** Creates or updates. */
  put(name: string, fields?: Record<string, unknown>): void
  remove(name: string): void
  /** Sends all open watches a bookmark. */
  bookmark(): void
  /** Forgets history: watches and pages from before now are answered with 410. */
  compact(): void
  /** Ends open watches as a server does whose timeoutSeconds are over. */
  endWatches(): void
  /** Breaks open watches off. */
  disconnect(): void
  /** Open watches get nothing any more, as when a firewall forgot the connection. */
  freeze(): void
  /** While set, requests get this: `unreachable`, or a status code. */
  fault: 'unreachable' | 429 | 403 | 404 | 500 | undefined
  openWatches(): number
}

interface Watch {
  send(event: WatchEvent): void
  end(error?: Error): void
  frozen: boolean
}

/** `mostPerPage`: pages are no longer than that, whatever is asked for. */
export function collectionServer(path: string, mostPerPage = Number.POSITIVE_INFINITY): CollectionServer {
  const objects = new Map<string, KubeObject>()
  let history: { version: number; event: WatchEvent }[] = []
  let version = 1
  let compacted = 0
  const watches = new Set<Watch>()

  function emit(event: WatchEvent): void {
    history.push({ version, event })
    for (const watch of watches) if (!watch.frozen) watch.send(event)
  }

  function list(query: URLSearchParams): ApiResponse {
    const limit = Math.min(Number(query.get('limit') ?? 0) || Number.POSITIVE_INFINITY, mostPerPage)
    const [token, after = ''] = JSON.parse(query.get('continue') ?? '[]') as [(number | null)?, string?]
    const at = token ?? version
    if (at < compacted) {
      const expired = refusal(410, 'Expired', 'the continue token is too old')
      // Kubernetes gives a token that goes on with what is there now; some of its caches do not.
      if (version % 2 === 0) return expired
      const next = JSON.stringify([null, after])
      return json(410, { kind: 'Status', code: 410, reason: 'Expired', metadata: { continue: next } })
    }
    const rest = [...(at === version ? objects.values() : stateAt(at))].filter(
      ({ metadata }) => metadata.name > after,
    )
    rest.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    const items = rest.slice(0, limit)
    const more = rest.length > items.length
    return json(200, {
      metadata: {
        resourceVersion: String(at),
        ...(more && { continue: JSON.stringify([at, items.at(-1)?.metadata.name]) }),
      },
      items,
    })
  }

  function stateAt(then: number): KubeObject[] {
    const state = new Map<string, KubeObject>()
    for (const { version, event } of history) {
      if (version > then) break
      if (event.type === 'DELETED') state.delete(event.object.metadata.name)
      else state.set(event.object.metadata.name, event.object)
    }
    return [...state.values()]
  }

  function watch(query: URLSearchParams, signal: AbortSignal | undefined): ApiResponse {
    const from = Number(query.get('resourceVersion'))
    if (from < compacted) return refusal(410, 'Expired', 'too old resource version')
    const missed = history.filter(entry => entry.version > from).map(entry => entry.event)
    return { status: 200, headers: {}, body: stream(missed, signal) }
  }

  async function* stream(missed: WatchEvent[], signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    const queue = [...missed]
    let wake = () => {}
    let ended = false
    let failure: Error | undefined
    const self: Watch = {
      frozen: false,
      send(event) {
        if (!ended) queue.push(event)
        wake()
      },
      end(error) {
        ended = true
        failure = error
        wake()
      },
    }
    watches.add(self)
    signal?.addEventListener('abort', () => self.end(), { once: true })
    try {
      while (!signal?.aborted) {
        const event = queue.shift()
        if (event) yield new TextEncoder().encode(`${JSON.stringify(event)}\n`)
        else if (failure) throw failure
        else if (ended) return
        else await new Promise<void>(resolve => (wake = resolve))
      }
    } finally {
      watches.delete(self)
    }
  }

  const requests: string[] = []
  const server: CollectionServer = {
    requests,
    fault: undefined,
    objects: () => [...objects.values()],
    put(name, fields = {}) {
      version++
      const uid = objects.get(name)?.metadata.uid ?? `uid-${version}`
      const metadata = { name, uid, resourceVersion: String(version) }
      const object = { apiVersion: 'v1', kind: 'Node', metadata, ...fields }
      emit({ type: objects.has(name) ? 'MODIFIED' : 'ADDED', object })
      objects.set(name, object)
    },
    remove(name) {
      const object = objects.get(name)
      if (!object) return
      version++
      objects.delete(name)
      const metadata = { ...object.metadata, resourceVersion: String(version) }
      emit({ type: 'DELETED', object: { ...object, metadata } })
    },
    bookmark() {
      const metadata = { name: '', resourceVersion: String(version) }
      for (const watch of watches) {
        if (!watch.frozen)
          watch.send({ type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'Node', metadata } })
      }
    },
    compact() {
      // What is still there must be found by stateAt, at the version it has.
      compacted = version
      history = [...objects.values()].map(object => ({
        version: Number(object.metadata.resourceVersion),
        event: { type: 'ADDED' as const, object },
      }))
    },
    endWatches() {
      for (const watch of watches) watch.end()
    },
    disconnect() {
      for (const watch of watches) watch.end(new RollcallError('API_UNREACHABLE', 'connection reset'))
    },
    freeze() {
      for (const watch of watches) watch.frozen = true
    },
    openWatches: () => watches.size,
    closeConnections() {
      server.disconnect()
    },
    async request({ method, url, signal }: ApiRequest) {
      requests.push(`${method} ${url}`)
      if (server.fault === 'unreachable') throw new RollcallError('API_UNREACHABLE', 'connection refused')
      if (server.fault) return refusal(server.fault, 'Fault')
      const { pathname, searchParams } = new URL(url, 'https://server')
      if (pathname !== path) return refusal(404, 'NotFound')
      return searchParams.has('watch') ? watch(searchParams, signal) : list(searchParams)
    },
  }
  return server
}
