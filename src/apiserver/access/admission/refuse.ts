import { type ApiError, apiError } from '../../wire/api-error.ts'
import type { AdmissionRequest } from '../access.ts'

/** The object's name, where it has none yet its generateName, else `Unknown`: as Kubernetes names it in a refusal. */
export function admittedName(request: AdmissionRequest): string {
  const metadata = request.object?.metadata
  return request.name || metadata?.name || metadata?.generateName || 'Unknown'
}

/** An admission plug-in's 403. */
export function refuse(request: AdmissionRequest, why: string): ApiError {
  const resource = { group: request.group, plural: request.resource, kind: request.object?.kind ?? '' }
  return apiError.forbidden(resource, admittedName(request), why)
}
