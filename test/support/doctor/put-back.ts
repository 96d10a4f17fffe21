/** Everything that faults change in the API, as it was before. */
import { isDeepStrictEqual } from 'node:util'
import { isStatus, type KubeClient } from '../../../src/kube/client.ts'
import { caRotation } from '../../../src/kube/rollcall/ca-rotation.ts'
import { type KubeObject, type ResourceRef, resources } from '../../../src/kube/types.ts'

/** In the order in which they are put back. */
const kinds: readonly ResourceRef[] = [
  resources.clusterRoles,
  resources.clusterRoleBindings,
  resources.nodes,
  resources.configMaps,
  resources.secrets,
  resources.pods,
  resources.endpointSlices,
  resources.certificateSigningRequests,
  caRotation.ref,
  resources.leases,
]

type Snapshot = Map<ResourceRef, Map<string, KubeObject>>

export async function snapshot(client: KubeClient): Promise<Snapshot> {
  const lists = kinds.map(async (ref): Promise<[ResourceRef, Map<string, KubeObject>]> => {
    const { items } = await client.list(ref)
    const typed = { apiVersion: ref.group ? `${ref.group}/${ref.version}` : ref.version, kind: ref.kind }
    return [ref, new Map(items.map(item => [keyOf(item), { ...item, ...typed }]))]
  })
  return new Map(await Promise.all(lists))
}

/** Deletes what is new, makes anew what is gone, and undoes what was changed. */
export async function putBack(client: KubeClient, before: Snapshot): Promise<void> {
  const now = await snapshot(client)
  for (const [ref, objects] of before) {
    const there = now.get(ref) ?? new Map<string, KubeObject>()
    const added = [...there].filter(([key]) => !objects.has(key))
    await Promise.all(added.map(([, object]) => remove(client, ref, object)))
    for (const [key, object] of objects) {
      // Requests are cleaned up and Leases renewed by those who run.
      if (ref === resources.certificateSigningRequests || ref === resources.leases) continue
      const current = there.get(key)
      if (!current) await create(client, ref, object)
      else if (!isDeepStrictEqual(contentOf(current), contentOf(object))) await replace(client, ref, object)
    }
  }
}

const keyOf = ({ metadata }: KubeObject) => `${metadata.namespace ?? ''}/${metadata.name}`

function targetOf({ metadata: { name, namespace } }: KubeObject) {
  return { name, ...(namespace !== undefined && { namespace }) }
}

/** Without what the API writes itself. */
function contentOf({ metadata, ...content }: KubeObject): object {
  const {
    resourceVersion: _,
    managedFields: __,
    generation: ___,
    ...kept
  } = { ...metadata } as Record<string, unknown>
  return { ...content, metadata: kept }
}

async function remove(client: KubeClient, ref: ResourceRef, object: KubeObject): Promise<void> {
  await client.delete(ref, targetOf(object)).catch((error: unknown) => {
    if (!isStatus(error, 'NotFound')) throw error
  })
}

async function create(client: KubeClient, ref: ResourceRef, object: KubeObject): Promise<void> {
  const { uid: _, resourceVersion: __, creationTimestamp: ___, ...metadata } = object.metadata
  await client.create(ref, { ...object, metadata }).catch((error: unknown) => {
    if (!isStatus(error, 'AlreadyExists')) throw error
  })
}

/** Its own program may write it at the same moment. */
async function replace(client: KubeClient, ref: ResourceRef, object: KubeObject): Promise<void> {
  for (;;) {
    const { metadata } = await client.get(ref, targetOf(object))
    const wanted = { ...object, metadata: { ...object.metadata, resourceVersion: metadata.resourceVersion } }
    try {
      const updated = await client.update(ref, wanted as KubeObject)
      if ('status' in object) {
        const resourceVersion = updated.metadata.resourceVersion
        const status = { ...object, metadata: { ...object.metadata, resourceVersion } } as KubeObject
        await client.update(ref, status, { subresource: 'status' })
      }
      return
    } catch (error) {
      if (!isStatus(error, 'Conflict')) throw error
    }
  }
}
