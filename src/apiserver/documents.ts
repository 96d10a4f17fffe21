/** What the server says about itself: version, discovery, OpenAPI. */
import type { ApiRequest, ApiResponse } from '../kube/transport.ts'
import type { RequestInfo } from './request-info.ts'
import type { Resource } from './resources/resource.ts'

export type Documents = (request: ApiRequest, info: RequestInfo) => ApiResponse | undefined

export function documentsOf(_resources: readonly Resource[]): Documents {
  return () => undefined
}
