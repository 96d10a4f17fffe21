/** serviceaccounts/token: a signed token for a ServiceAccount, bound to an object where asked. */
import { type KubeObject, resources } from '../../kube/types.ts'
import type { BoundObject, TokenClaims } from '../access/authentication/service-account/token-claims.ts'
import { serviceAccountUserName } from '../access/system-identities.ts'
import { timestamp, uuid } from '../object-name.ts'
import type { ObjectReader } from '../reader.ts'
import { ApiError, apiError } from '../wire/api-error.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import type { CreateContext, CreatedSubresource } from './resource.ts'

export interface TokenRequest extends KubeObject {
  spec?: {
    audiences?: string[]
    /** Seconds. */
    expirationSeconds?: number
    boundObjectRef?: { kind?: string; apiVersion?: string; name?: string; uid?: string }
  }
  status?: { token: string; expirationTimestamp: string }
}

const kind = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' }
const specField = 'spec.expirationSeconds'
/** Seconds. */
const shortest = 600
const longest = 2 ** 32
const defaultExpiration = 3600
/** A pod's own token of this very lifetime lives a year, and only warns before: clients that never read it again live on. */
const warnOnlyExpiration = 3607
const extendedExpiration = 365 * 24 * 3600

type Pod = KubeObject & { spec?: { serviceAccountName?: string; nodeName?: string } }

function validate({ spec }: TokenRequest): FieldError[] {
  const seconds = spec?.expirationSeconds ?? 0
  if (seconds < shortest)
    return [fieldError.invalid(specField, seconds, 'may not specify a duration less than 10 minutes')]
  if (seconds > longest)
    return [fieldError.invalid(specField, seconds, 'may not specify a duration larger than 2^32 seconds')]
  return []
}

/** The name may be left out; another than the account's is refused. */
function requireOwnName(request: TokenRequest, account: KubeObject): void {
  const { name, namespace } = account.metadata
  const given = request.metadata.name
  if (given && given !== name) {
    const text = 'must match the service account name if specified'
    throw apiError.invalid(kindRef, name, [fieldError.invalid('metadata.name', given, text)])
  }
  request.metadata = { ...request.metadata, name, ...(namespace && { namespace }) }
}

const kindRef = { group: kind.group, plural: 'tokenrequests', kind: kind.kind }

type Bound = Pick<TokenClaims['kubernetes.io'], 'pod' | 'node' | 'secret'>

const referenceTo = ({ metadata }: KubeObject): BoundObject => ({
  name: metadata.name,
  ...(metadata.uid && { uid: metadata.uid }),
})

/** Throws ApiError 404, 400 or 409. */
function boundObjects({ spec }: TokenRequest, account: KubeObject, reader: ObjectReader): Bound {
  const reference = spec?.boundObjectRef
  if (!reference) return {}
  const { apiVersion = '', name = '' } = reference
  const within = account.metadata.namespace ?? ''
  const find = <T extends KubeObject>(resource: typeof resources.pods, namespace = within): T => {
    const object = reader.get<T>(resource, name, namespace)
    if (!object) throw apiError.notFound(resource, name)
    requireUid(reference, object)
    return object
  }
  switch (apiVersion === 'v1' ? reference.kind : undefined) {
    case 'Pod':
      return boundToPod(find<Pod>(resources.pods), account, reader)
    case 'Node':
      return { node: referenceTo(find(resources.nodes, '')) }
    case 'Secret':
      return { secret: referenceTo(find(resources.secrets)) }
    default: {
      const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
      const of = `${group}/${version}, Kind=${reference.kind ?? ''}`
      throw apiError.badRequest(`cannot bind token to object of type ${of}`)
    }
  }
}

function boundToPod(pod: Pod, account: KubeObject, reader: ObjectReader): Bound {
  const { name } = account.metadata
  if (pod.spec?.serviceAccountName !== name)
    throw apiError.badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(name)} to pod running with different serviceaccount name.`,
    )
  const nodeName = pod.spec.nodeName ?? ''
  if (nodeName === '') return { pod: referenceTo(pod) }
  const node = reader.get(resources.nodes, nodeName)
  return { pod: referenceTo(pod), node: node ? referenceTo(node) : { name: nodeName } }
}

function requireUid(reference: { kind?: string; uid?: string }, { metadata }: KubeObject): void {
  if (!reference.uid || reference.uid === metadata.uid) return
  throw apiError.conflict(
    { group: '', plural: reference.kind ?? '', kind: reference.kind ?? '' },
    metadata.name,
    `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
  )
}

function claimsFor(request: TokenRequest, account: KubeObject, context: CreateContext): TokenClaims {
  const { tokenIssuer, now, random, reader } = context
  const { audiences = [], expirationSeconds = defaultExpiration } = request.spec ?? {}
  const bound = boundObjects(request, account, reader)
  const iat = Math.floor(now / 1000)
  const extended =
    bound.pod !== undefined &&
    expirationSeconds === warnOnlyExpiration &&
    audiences.every(audience => tokenIssuer?.audiences.includes(audience))
  const { name, namespace = '' } = account.metadata
  return {
    aud: audiences,
    exp: iat + (extended ? extendedExpiration : expirationSeconds),
    iat,
    iss: tokenIssuer?.issuer ?? '',
    jti: uuid(random),
    'kubernetes.io': {
      namespace,
      ...bound,
      serviceaccount: referenceTo(account),
      ...(extended && { warnafter: iat + expirationSeconds }),
    },
    nbf: iat,
    sub: serviceAccountUserName(namespace, name),
  }
}

export const tokenRequests: CreatedSubresource<TokenRequest> = {
  kind,
  prepare(request, account, { now, tokenIssuer }) {
    requireOwnName(request, account)
    const spec = { expirationSeconds: defaultExpiration, ...request.spec }
    if (!spec.audiences?.length) spec.audiences = [...(tokenIssuer?.audiences ?? [])]
    request.spec = spec
    request.metadata.creationTimestamp = timestamp(now)
    delete request.status
  },
  validate,
  async create(request, account, context) {
    const { tokenIssuer, now } = context
    if (!tokenIssuer) throw new ApiError(404, 'NotFound', 'the server could not find the requested resource')
    const token = await tokenIssuer.sign(claimsFor(request, account, context))
    const { expirationSeconds = defaultExpiration } = request.spec ?? {}
    const status = { token, expirationTimestamp: timestamp(now + expirationSeconds * 1000) }
    return { ...request, status }
  },
}
