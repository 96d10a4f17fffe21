/** What the server says about itself: version, discovery, OpenAPI. */
import type { ApiRequest, ApiResponse } from '../kube/transport.ts'
import type { RequestInfo } from './request-info.ts'
import type { Resource } from './resources/resource.ts'
import { versionDocument } from './version.ts'
import { discovery } from './wire/discovery.ts'
import { isCurrent, type ServedDocument } from './wire/document.ts'
import { negotiateDiscovery } from './wire/negotiate.ts'
import { openApiV3 } from './wire/openapi/openapi.ts'

/** The answer to a GET of a path that is no resource; undefined when there is no such document. */
export type Documents = (request: ApiRequest, info: RequestInfo) => ApiResponse | undefined

export function documentsOf(resources: readonly Resource[]): Documents {
  const discover = discovery(resources)
  const openApi = openApiV3(resources)
  const version = versionDocument()
  const find = (path: string, accept: string | undefined): ServedDocument | undefined => {
    if (path === '/version') return version
    if (path.startsWith('/openapi/')) return openApi(path)
    return path.startsWith('/api') ? discover(path, negotiateDiscovery(accept)) : undefined
  }
  return ({ headers }, { path }) => {
    const document = find(path, headers.accept)
    return document && served(document, headers['if-none-match'])
  }
}

function served(document: ServedDocument, ifNoneMatch: string | undefined): ApiResponse {
  const headers = {
    'content-type': document.contentType,
    etag: document.etag,
    vary: 'Accept',
    'cache-control': 'public',
  }
  if (isCurrent(document, ifNoneMatch)) return { status: 304, headers, body: new Uint8Array() }
  return { status: 200, headers, body: document.body }
}
