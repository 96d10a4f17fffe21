import type { ApiResponse } from '../../kube/transport.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Call } from '../call.ts'
import { metadataErrors } from '../metadata-rules.ts'
import { generateName, timestamp, uuid } from '../object-name.ts'
import { type Form, formOf, respondObject } from '../representation.ts'
import { encodeObject, keyOf } from '../stored-object.ts'
import { ApiError, apiError } from '../wire/api-error.ts'
import {
  admit,
  dryRunOf,
  expiryOf,
  readObject,
  requireNamespace,
  setNamespace,
  writeContext,
} from './write.ts'

/** A generated name may be taken; Kubernetes tries as often. */
const GENERATE_ATTEMPTS = 8

/** POST to a collection. */
export async function create(call: Call): Promise<ApiResponse> {
  const form = formOf(call)
  const dryRun = dryRunOf(call, 'CreateOptions')
  const object = readObject(call, 'CreateOptions')
  setNamespace(call, object)
  // The types promise a name; a body need not have one.
  object.metadata.name ??= ''
  const generated = !object.metadata.name && object.metadata.generateName
  for (let attempt = 1; ; attempt++) {
    const next = generated ? structuredClone(object) : object
    if (generated) next.metadata.name = generateName(generated, call.core.random)
    try {
      return await createObject(call, form, next, dryRun)
    } catch (error) {
      const taken = error instanceof ApiError && error.status.reason === 'AlreadyExists'
      if (!generated || !taken || attempt === GENERATE_ATTEMPTS) throw error
    }
  }
}

/** Everything after decoding: also the way of a PUT to a name that is not there. Throws ApiError 409 when it is taken. */
export async function createObject(
  call: Call,
  form: Form,
  object: KubeObject,
  dryRun: boolean,
): Promise<ApiResponse> {
  const { core, resource, path } = call
  if (object.metadata.resourceVersion)
    throw new ApiError(500, undefined, 'resourceVersion should not be set on objects to be created')
  const { name } = object.metadata
  requireNamespace(call, name)
  setSystemMetadata(call, object)
  resource.prepareForCreate(object, writeContext(call))
  admit(call, { operation: 'CREATE', name, object })
  const errors = [...metadataErrors(resource, object.metadata), ...resource.validate(object)]
  if (errors.length > 0) throw apiError.invalid(resource, name, errors)

  const key = keyOf(resource, path.namespace, name)
  const value = encodeObject(resource, object)
  const taken = () => apiError.alreadyExists(resource, name)
  if (core.store.get(key)) throw taken()
  if (dryRun) return respondObject(call, form, { key, value, createRevision: 0, modRevision: 0 }, 201)
  const result = await core.store.write({ key, expect: 0, value, ...expiryOf(call) })
  if (!result.ok) throw taken()
  const { revision } = result
  return respondObject(call, form, { key, value, createRevision: revision, modRevision: revision }, 201)
}

/** The fields of metadata that clients cannot set. */
function setSystemMetadata({ core, resource }: Call, object: KubeObject): void {
  const {
    deletionTimestamp: _deletion,
    generation: _generation,
    ...metadata
  } = object.metadata as KubeObject['metadata'] & { managedFields?: unknown; selfLink?: unknown }
  delete metadata.managedFields
  delete metadata.selfLink
  object.metadata = {
    ...metadata,
    uid: uuid(core.random),
    creationTimestamp: timestamp(core.clock.now()),
    ...(resource.hasGeneration && { generation: 1 }),
  }
}
