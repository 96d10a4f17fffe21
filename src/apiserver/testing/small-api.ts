/** An API with three small resources and an Access that lets everybody do everything: for the tests of the core. */
import type { ApiRequest, ApiResponse, Peer } from '../../kube/transport.ts'
import type { KubeObject, ResourceRef } from '../../kube/types.ts'
import { resources } from '../../kube/types.ts'
import { silentLog } from '../../ports.ts'
import { createManualClock, type ManualClock } from '../../testing/manual-clock.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import type { Access } from '../access/access.ts'
import type { Api } from '../api.ts'
import { type ApiOptions, createApi } from '../create-api.ts'
import { allVerbs, type Resource, type StoredResource } from '../resources/resource.ts'
import type { SchemaChecks } from '../schema-checks.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import type { Store } from '../storage/store.ts'
import { fieldError } from '../wire/field-error.ts'

export const start = Date.parse('2026-03-01T12:00:00Z')

export const openAccess: Access = {
  authenticate: () => ({ user: { username: 'tester', groups: ['system:masters'] } }),
  authorize: () => ({ allowed: true, reason: '' }),
  requireAllowed() {},
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  authenticateToken: () => ({ ok: false, reason: 'invalid bearer token' }),
  admit() {},
  setClientCertificateAuthorities() {},
}

/** Every field of every kind is known. */
const anySchema: SchemaChecks = {
  wrongType: () => undefined,
  unknownFields: () => [],
  dropUnknownFields() {},
  dropEmptyFields() {},
}

export interface Spec extends KubeObject {
  spec?: Record<string, unknown>
  status?: Record<string, unknown>
}

/** A resource that takes what it is given; its `spec.colour` may not be "plaid", and can be selected on. */
function stored(ref: ResourceRef, more: Partial<StoredResource<Spec>> = {}): StoredResource<Spec> {
  const validate = (object: Spec) =>
    object.spec?.colour === 'plaid' ? [fieldError.notSupported('spec.colour', 'plaid', ['red'])] : []
  return {
    ...ref,
    stored: true,
    singular: ref.kind.toLowerCase(),
    shortNames: [],
    verbs: allVerbs,
    columns: [
      {
        name: 'Name',
        type: 'string',
        format: 'name',
        description: '',
        priority: 0,
        value: object => object.metadata.name,
      },
    ],
    prepareForCreate(object) {
      delete object.status
    },
    prepareForUpdate(next, previous) {
      if (previous.status) next.status = previous.status
      else delete next.status
    },
    validate,
    validateUpdate: validate,
    validateName: name => (/^[a-z0-9.-]+$/.test(name) ? [] : ['must be lower case']),
    subresources: {
      status: {
        verbs: ['get', 'patch', 'update'],
        prepareForUpdate(next, previous) {
          const { status } = next as Spec
          Object.assign(next, previous, { metadata: next.metadata, status })
        },
        validateUpdate: () => [],
      },
    },
    selectableFields: [{ path: 'spec.colour', value: object => String(object.spec?.colour ?? '') }],
    hasGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    ...more,
  }
}

export const smallResources: Resource[] = [
  stored(resources.namespaces, { hasGeneration: false }),
  stored(resources.nodes),
  stored(resources.configMaps),
  stored(resources.leases, { allowUnconditionalUpdate: false, allowCreateOnUpdate: true }),
  stored(resources.events, { timeToLiveSeconds: 3600 }),
  {
    ...resources.subjectAccessReviews,
    stored: false,
    singular: 'subjectaccessreview',
    validate: () => [],
    review: (object, { user }) => Object.assign(object, { status: { allowed: true, reason: user.username } }),
  },
]

export interface SmallApi {
  api: Api
  store: Store
  clock: ManualClock
  handle(
    method: string,
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<ApiResponse>
  /** The JSON answer; throws an Error with the Status' message when it is not 2xx. */
  call<T = Spec>(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<T>
}

export const peer: Peer = { remoteAddress: '127.0.0.1' }

export function smallApi(options: Partial<ApiOptions> = {}): SmallApi {
  const clock = createManualClock(start)
  const store = options.store ?? createMemoryStore({ clock })
  const api = createApi({
    store,
    access: openAccess,
    resources: smallResources,
    clock,
    random: seededRandom(1),
    log: silentLog,
    schemas: anySchema,
    ...options,
  })
  const handle: SmallApi['handle'] = (method, url, body, headers = {}, signal) => {
    const request: ApiRequest = { method, url, headers, ...(signal && { signal }) }
    if (body !== undefined)
      request.body = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
    return api.handle(request, peer)
  }
  return {
    api,
    store,
    clock,
    handle,
    async call<T>(method: string, url: string, body?: unknown, headers?: Record<string, string>) {
      const response = await handle(method, url, body, headers)
      const value = textOf(response)
      const json = JSON.parse(value) as T & { message?: string }
      if (response.status >= 300) throw new Error(`${response.status} ${json.message}`)
      return json as T
    },
  }
}

export function textOf({ body }: ApiResponse): string {
  if (!(body instanceof Uint8Array)) throw new Error('a stream, not a whole body')
  return new TextDecoder().decode(body)
}

export const configMap = (name: string, more: Partial<Spec> = {}): Spec => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
})

/** A small API that has the namespace `default`. */
export async function defaultNamespace(): Promise<SmallApi> {
  const api = smallApi()
  await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } })
  return api
}
