import type { ResourceRef, Status } from '../../kube/types.ts'
import type { FieldError } from './field-error.ts'

/** An answer that is a metav1.Status. Thrown anywhere below `handle`, rendered only there. */
export class ApiError extends Error {
  readonly status: Status

  constructor(code: number, reason: string | undefined, message: string, details?: Status['details']) {
    super(message)
    this.name = 'ApiError'
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason && { reason }),
      ...(details && { details }),
      code,
    }
  }
}

type Kinded = Pick<ResourceRef, 'group' | 'plural' | 'kind'>

/** `nodes`, `leases.coordination.k8s.io`: as Kubernetes prints a GroupResource. */
export function groupResource(resource: Pick<ResourceRef, 'group' | 'plural'>): string {
  return resource.group ? `${resource.plural}.${resource.group}` : resource.plural
}

function detailsOf(resource: Kinded, name?: string): NonNullable<Status['details']> {
  return { ...(name && { name }), ...(resource.group && { group: resource.group }), kind: resource.plural }
}

const causeReasons: Record<FieldError['type'], string> = {
  Required: 'FieldValueRequired',
  Invalid: 'FieldValueInvalid',
  TypeInvalid: 'FieldValueTypeInvalid',
  NotSupported: 'FieldValueNotSupported',
  Duplicate: 'FieldValueDuplicate',
  Forbidden: 'FieldValueForbidden',
  TooLong: 'FieldValueTooLong',
  TooMany: 'FieldValueTooMany',
  NotFound: 'FieldValueNotFound',
}

/** Kubernetes' own errors with its exact texts (apimachinery/pkg/api/errors). */
export const apiError = {
  badRequest: (message: string) => new ApiError(400, 'BadRequest', message),
  unauthorized: () => new ApiError(401, 'Unauthorized', 'Unauthorized'),
  /** `why` is the text behind the last colon, e.g. `User "u" cannot get resource …`. */
  forbidden: (resource: Kinded, name: string | undefined, why: string) =>
    new ApiError(
      403,
      'Forbidden',
      `${groupResource(resource)}${name === undefined ? '' : ` "${name}"`} is forbidden: ${why}`,
      detailsOf(resource, name),
    ),
  /** For paths that are no resource. */
  forbiddenPath: (why: string) => new ApiError(403, 'Forbidden', `forbidden: ${why}`, {}),
  notFound: (resource: Kinded, name: string) =>
    new ApiError(
      404,
      'NotFound',
      `${groupResource(resource)} "${name}" not found`,
      detailsOf(resource, name),
    ),
  /** The answer to an unknown path, when it is not plain text. */
  noSuchResource: () => new ApiError(404, 'NotFound', 'the server could not find the requested resource', {}),
  methodNotAllowed: (resource: Kinded, verb: string) =>
    new ApiError(
      405,
      'MethodNotAllowed',
      `${verb} is not supported on resources of kind "${groupResource(resource)}"`,
      detailsOf(resource),
    ),
  notAcceptable: (accepted: readonly string[]) =>
    new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`),
  alreadyExists: (resource: Kinded, name: string) =>
    new ApiError(
      409,
      'AlreadyExists',
      `${groupResource(resource)} "${name}" already exists`,
      detailsOf(resource, name),
    ),
  conflict: (
    resource: Kinded,
    name: string,
    why = 'the object has been modified; please apply your changes to the latest version and try again',
  ) =>
    new ApiError(
      409,
      'Conflict',
      `Operation cannot be fulfilled on ${groupResource(resource)} "${name}": ${why}`,
      detailsOf(resource, name),
    ),
  expired: (message: string) => new ApiError(410, 'Expired', message),
  requestTooLarge: (limit: number) =>
    new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`),
  unsupportedMediaType: (accepted: readonly string[]) =>
    new ApiError(
      415,
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    ),
  invalid: (resource: Kinded, name: string, errors: readonly FieldError[]) => {
    const texts = errors.map(error => `${error.field}: ${error.text}`)
    const kind = resource.group ? `${resource.kind}.${resource.group}` : resource.kind
    return new ApiError(
      422,
      'Invalid',
      `${kind} "${name}" is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`,
      {
        ...(name && { name }),
        ...(resource.group && { group: resource.group }),
        kind: resource.kind,
        causes: errors.map(error => ({
          reason: causeReasons[error.type],
          message: error.text,
          field: error.field,
        })),
      },
    )
  },
  tooManyRequests: (message: string, retryAfterSeconds: number) =>
    new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds }),
  internal: (message: string) =>
    new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] }),
  unavailable: (message: string) => new ApiError(503, 'ServiceUnavailable', message),
}
