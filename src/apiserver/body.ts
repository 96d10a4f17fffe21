/** Bytes of a request to the object that they stand for: JSON, YAML or Kubernetes' protobuf (W-2). */
import { parse as parseYaml } from 'yaml'
import { isRecord } from '../kube/json.ts'
import { decodeKubernetesProtobuf } from '../kube/protobuf/decode.ts'
import type { ApiRequest } from '../kube/transport.ts'
import type { KubeObject, ResourceRef } from '../kube/types.ts'
import { duplicateFields } from './duplicate-fields.ts'
import { plainCopy } from './plain-copy.ts'
import { apiVersionOf } from './stored-object.ts'
import { apiError } from './wire/api-error.ts'

const accepted = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

/** Deepest nesting that a body may have; objects have about ten levels. */
const DEPTH = 200

export interface Body {
  value: unknown
  /** `spec.x`, for fieldValidation. */
  duplicates: string[]
  /** It came as a value from a program in this process, whose types the compiler has checked. */
  typed?: true
}

/** Content-Type without parameters; absent: JSON, as old clients send (kubectl 1.20). */
export function mediaTypeOf(request: ApiRequest): string {
  const header = request.headers['content-type'] ?? 'application/json'
  return header.split(';')[0]?.trim().toLowerCase() ?? ''
}

/** Throws ApiError 413. */
export function requireSize(request: ApiRequest, limit: number): void {
  if ((request.body?.length ?? 0) > limit) throw apiError.requestTooLarge(limit)
}

/** `kind` is what the path says, for the error's text. Throws ApiError 400 or 415. */
export function readBody(request: ApiRequest, kind: string): Body {
  if (request.value) return { value: plainCopy(request.value), duplicates: [], typed: true }
  const bytes = request.body ?? new Uint8Array()
  const type = mediaTypeOf(request)
  if (!accepted.includes(type)) throw apiError.unsupportedMediaType(accepted)
  if (type === 'application/vnd.kubernetes.protobuf')
    return { value: decodeKubernetesProtobuf(bytes), duplicates: [] }
  const body = type === 'application/yaml' ? readYaml(bytes, kind) : readJson(bytes, kind)
  clean(body.value)
  return body
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength).toString()

/** Throws SyntaxError. */
export function parseJson(bytes: Uint8Array): Body {
  const text = textOf(bytes)
  const value: unknown = JSON.parse(text)
  // Most clients send compact JSON: what comes out as it went in has nothing twice.
  return { value, duplicates: JSON.stringify(value) === text ? [] : duplicateFields(text) }
}

function readJson(bytes: Uint8Array, kind: string): Body {
  try {
    return parseJson(bytes)
  } catch (error) {
    throw unrecognized(kind, 'json', error)
  }
}

function readYaml(bytes: Uint8Array, kind: string): Body {
  try {
    const value: unknown = parseYaml(textOf(bytes), {
      maxAliasCount: 0,
      schema: 'core',
      // Its warnings go to the process's stderr, where any client could fill the log.
      logLevel: 'error',
    })
    return { value, duplicates: [] }
  } catch (error) {
    throw unrecognized(kind, 'yaml', error)
  }
}

/** Without the parser's excerpt of the body, which may be a Secret. */
function unrecognized(kind: string, format: string, error: unknown): Error {
  const why = error instanceof RangeError ? 'nested too deep' : 'the body is not valid'
  return apiError.badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; ${format} parse error: ${why}`,
  )
}

/**
 * Drops fields that are null, which to Kubernetes' types is the same as absent. Throws ApiError 400 for absurd depth and
 * for `__proto__`, which copying would turn into a prototype, and 413 for what would be more than about `limit` bytes
 * of JSON: a patch of few bytes can copy its copies.
 */
export function clean(value: unknown, limit = Number.POSITIVE_INFINITY): void {
  let left = limit
  const visit = (item: unknown, depth: number): void => {
    left -= typeof item === 'string' ? item.length + 2 : 2
    if (left < 0) throw apiError.requestTooLarge(limit)
    if (typeof item !== 'object' || item === null) return
    if (depth > DEPTH) throw apiError.badRequest(`the object is nested deeper than ${DEPTH} levels`)
    if (Array.isArray(item)) for (const one of item) visit(one, depth + 1)
    else visitFields(item as Record<string, unknown>, depth)
  }
  const visitFields = (object: Record<string, unknown>, depth: number) => {
    for (const [key, field] of Object.entries(object)) {
      if (key === '__proto__') throw apiError.badRequest('the object may not contain the field "__proto__"')
      left -= key.length
      if (field === null) delete object[key]
      else visit(field, depth + 1)
    }
  }
  visit(value, 0)
}

/**
 * The value as an object of the kind, with kind and apiVersion filled in and metadata of the right types. Throws ApiError
 * 400 when it is of another kind or version.
 */
export function requireObject(value: unknown, ref: ResourceRef): KubeObject {
  const expected = apiVersionOf(ref)
  if (!isRecord(value))
    throw cannotBeHandled(ref, 'json: cannot unmarshal into Go value: an object is expected')
  const kind = value.kind || ref.kind
  const apiVersion = value.apiVersion || expected
  if (apiVersion !== expected)
    throw apiError.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    )
  if (kind !== ref.kind)
    throw apiError.badRequest(`${kind} in version "${ref.version}" cannot be handled as a ${ref.kind}`)
  const metadata = value.metadata ?? {}
  const wrong = wrongMetadata(metadata)
  if (wrong) throw cannotBeHandled(ref, `json: cannot unmarshal into Go struct field ObjectMeta.${wrong}`)
  return { ...value, kind, apiVersion, metadata } as unknown as KubeObject
}

/** The 400 for a body that is JSON but not an object of the kind. */
export function cannotBeHandled(ref: Pick<ResourceRef, 'kind' | 'version'>, why: string): Error {
  return apiError.badRequest(
    `${ref.kind} in version "${ref.version}" cannot be handled as a ${ref.kind}: ${why}`,
  )
}

const isAbsent = (value: unknown) => value === undefined || value === null
const isText = (value: unknown) => typeof value === 'string'
const isTextMap = (value: unknown) => isRecord(value) && Object.values(value).every(isText)
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText)

const metadataTypes: readonly [field: string, type: string, holds: (value: unknown) => boolean][] = [
  ['name', 'string', isText],
  ['generateName', 'string', isText],
  ['namespace', 'string', isText],
  ['uid', 'string', isText],
  ['resourceVersion', 'string', isText],
  ['creationTimestamp', 'Time', isText],
  ['deletionTimestamp', 'Time', isText],
  ['labels', 'map[string]string', isTextMap],
  ['annotations', 'map[string]string', isTextMap],
  ['finalizers', '[]string', isTextList],
  ['ownerReferences', '[]OwnerReference', value => Array.isArray(value) && value.every(isRecord)],
]

/** Everything behind relies on the types of metadata, so they are checked at the door. */
function wrongMetadata(metadata: unknown): string | undefined {
  if (!isRecord(metadata)) return 'metadata of type ObjectMeta'
  for (const [field, type, holds] of metadataTypes) {
    if (!isAbsent(metadata[field]) && !holds(metadata[field])) return `metadata.${field} of type ${type}`
  }
  return undefined
}
