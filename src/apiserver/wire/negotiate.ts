/**
 * In which form a client wants its answer. The answer is always JSON (W-2: who sends protobuf also accepts JSON), but the
 * object may be wanted as a Table (kubectl get) or as its metadata only (garbage collectors, caches).
 */
import { apiError } from './api-error.ts'
import { acceptedTypes, isJson, type MediaType } from './media-type.ts'

export interface Representation {
  kind: 'json' | 'table' | 'partial-metadata'
  /** Version of meta.k8s.io for tables and partial metadata, `v1` otherwise. */
  version: 'v1' | 'v1beta1'
}

/** What a 406 or 415 names as possible. */
const servedMediaTypes: readonly string[] = ['application/json']

const kinds: Readonly<Record<string, Representation['kind']>> = {
  Table: 'table',
  PartialObjectMetadata: 'partial-metadata',
  PartialObjectMetadataList: 'partial-metadata',
}

function representationOf(accepted: MediaType): Representation | undefined {
  if (!isJson(accepted)) return undefined
  const { as, g, v } = accepted.parameters
  if (as === undefined) return { kind: 'json', version: 'v1' }
  const kind = Object.hasOwn(kinds, as) ? kinds[as] : undefined
  if (!kind || g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return undefined
  return { kind, version: v }
}

/** The first form of the Accept header that is served; a missing header means JSON. Throws ApiError 406. */
export function negotiate(acceptHeader: string | undefined): Representation {
  for (const accepted of acceptedTypes(acceptHeader)) {
    const representation = representationOf(accepted)
    if (representation) return representation
  }
  throw apiError.notAcceptable(servedMediaTypes)
}

/** In which form discovery of /api and /apis is wanted. */
export type DiscoveryForm = 'v2' | 'v2beta1' | 'legacy'

/** Aggregated where the client asks for it first, else the legacy lists. Throws ApiError 406. */
export function negotiateDiscovery(acceptHeader: string | undefined): DiscoveryForm {
  for (const accepted of acceptedTypes(acceptHeader)) {
    if (!isJson(accepted)) continue
    const { as, g, v } = accepted.parameters
    if (as === undefined) return 'legacy'
    if (g === 'apidiscovery.k8s.io' && as === 'APIGroupDiscoveryList' && (v === 'v2' || v === 'v2beta1')) {
      return v
    }
  }
  throw apiError.notAcceptable(servedMediaTypes)
}

/** The media type of an aggregated discovery document. */
export function discoveryContentType(form: DiscoveryForm): string {
  return form === 'legacy'
    ? 'application/json'
    : `application/json;g=apidiscovery.k8s.io;v=${form};as=APIGroupDiscoveryList`
}
