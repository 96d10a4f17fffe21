/** NodeRestriction for serviceaccounts/token: a node gets tokens for its own pods, for audiences that these use. */
import { type KubeObject, resources } from '../../../kube/types.ts'
import type { ObjectReader } from '../../reader.ts'
import { apiError } from '../../wire/api-error.ts'
import type { AdmissionRequest, Attributes, Decision } from '../access.ts'
import { quoted } from '../go-quote.ts'
import { refuse } from './refuse.ts'

type TokenRequest = KubeObject & {
  spec?: {
    audiences?: string[]
    boundObjectRef?: { apiVersion?: string; kind?: string; name?: string; uid?: string }
  }
}

interface Volume {
  projected?: { sources?: { serviceAccountToken?: { audience?: string } }[] }
  csi?: { driver?: string }
}

type Pod = KubeObject & { spec?: { nodeName?: string; volumes?: Volume[] } }
type CsiDriver = KubeObject & { spec?: { tokenRequests?: { audience?: string }[] } }

export interface TokenFacts {
  node: string
  reader: ObjectReader
  /** Of the API server itself: what a pod means that names no audience. */
  apiAudiences: readonly string[]
  authorize(attributes: Attributes): Decision
}

/** Throws ApiError 403, or 404 for a pod that is not there. */
export function admitTokenRequest(request: AdmissionRequest, facts: TokenFacts): void {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return
  const { node, reader } = facts
  const asked = request.object as TokenRequest
  const { apiVersion, kind, name = '', uid = '' } = asked.spec?.boundObjectRef ?? {}
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '')
    throw refuse(request, 'node requested token not bound to a pod')
  if (uid === '') throw refuse(request, 'node requested token with a pod binding without a uid')
  const pod = reader.get<Pod>(resources.pods, name, request.namespace)
  if (!pod) throw apiError.notFound(resources.pods, name)
  if (uid !== pod.metadata.uid)
    throw refuse(
      request,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  if (pod.spec?.nodeName !== node)
    throw refuse(request, 'node requested token bound to a pod scheduled on a different node')
  requireUsedAudience(request, asked.spec?.audiences ?? [], pod, facts)
}

function requireUsedAudience(
  request: AdmissionRequest,
  audiences: readonly string[],
  pod: Pod,
  { reader, apiAudiences, authorize }: TokenFacts,
): void {
  const [audience = '', ...more] = audiences
  if (more.length > 0) throw refuse(request, 'node may only request 0 or 1 audiences')
  const used = audiencesOf(pod, reader)
  if (used.has(audience) || (apiAudiences.includes(audience) && used.has(''))) return
  const { user, namespace, name } = request
  // Granted to nodes for image credential providers: the audience stands where a resource would.
  const right = { verb: 'request-serviceaccounts-token-audience', group: '', version: '', resource: audience }
  if (authorize({ user, ...right, namespace, name }).allowed) return
  throw refuse(
    request,
    `audience ${quoted(audience)} not found in pod spec volume, ${user.username} is not authorized to request tokens for this audience`,
  )
}

/** The audiences of the tokens that the pod's volumes hold, its own and those of its CSI drivers. */
function audiencesOf(pod: Pod, reader: ObjectReader): ReadonlySet<string> {
  const volumes = pod.spec?.volumes ?? []
  const projected = volumes.flatMap(({ projected }) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }) =>
      serviceAccountToken ? [serviceAccountToken.audience ?? ''] : [],
    ),
  )
  const drivers = volumes.flatMap(({ csi }) => (csi?.driver ? [csi.driver] : []))
  const ofDrivers = drivers.flatMap(driver =>
    (reader.get<CsiDriver>(resources.csiDrivers, driver)?.spec?.tokenRequests ?? []).map(
      ({ audience = '' }) => audience,
    ),
  )
  return new Set([...projected, ...ofDrivers])
}
