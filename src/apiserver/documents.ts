/** What the server says about itself: version, discovery, OpenAPI. */
import type { ApiRequest, ApiResponse } from '../kube/transport.ts'
import type { Clock } from '../ports.ts'
import type { RequestInfo } from './request-info.ts'
import type { Resource } from './resources/resource.ts'
import { versionDocument } from './version.ts'
import { discovery } from './wire/discovery.ts'
import { isCurrent, type ServedDocument } from './wire/document.ts'
import { negotiateDiscovery } from './wire/negotiate.ts'
import { openApiV3 } from './wire/openapi/openapi.ts'

/** The answer to a GET of a path that is no resource; undefined when there is no such document. */
export type Documents = (request: ApiRequest, info: RequestInfo) => ApiResponse | undefined

/** Milliseconds; HTTP's longest. */
const YEAR = 365 * 24 * 3_600_000

type Headers = Record<string, string>
const mayBeKept: Headers = { 'cache-control': 'public' }
const askAgain: Headers = { 'cache-control': 'no-cache, private' }

export function documentsOf(resources: readonly Resource[], clock: Pick<Clock, 'now'>): Documents {
  const discover = discovery(resources)
  const openApi = openApiV3(resources)
  const version = versionDocument()
  return ({ headers }, { path, query }) => {
    const current = headers['if-none-match']
    if (path === '/version') return served(version, current, askAgain)
    if (path.startsWith('/openapi/')) {
      const document = openApi(path)
      return document && openApiDocument(document, path, query.get('hash'), current, clock)
    }
    if (!path.startsWith('/api')) return undefined
    const form = negotiateDiscovery(headers.accept)
    const document = discover(path, form)
    // Only aggregated discovery is made for being kept.
    const kept = document?.contentType.includes('apidiscovery.k8s.io')
    return document && served(document, current, kept ? mayBeKept : askAgain)
  }
}

/** Who asks by hash may keep the answer for good, and is led to the right hash when it has another. */
function openApiDocument(
  document: ServedDocument,
  path: string,
  hash: string | null,
  current: string | undefined,
  clock: Pick<Clock, 'now'>,
): ApiResponse {
  if (!hash) return served(document, current, askAgain)
  if (hash !== document.hash) {
    const location = `${path}?hash=${document.hash}`
    return { status: 301, headers: { ...askAgain, location }, body: new Uint8Array() }
  }
  const expires = new Date(clock.now() + YEAR).toUTCString()
  return served(document, current, { 'cache-control': 'public, immutable', expires })
}

function served(document: ServedDocument, ifNoneMatch: string | undefined, caching: Headers): ApiResponse {
  const headers = { 'content-type': document.contentType, etag: document.etag, vary: 'Accept', ...caching }
  if (isCurrent(document, ifNoneMatch)) return { status: 304, headers, body: new Uint8Array() }
  return { status: 200, headers, body: document.body }
}
