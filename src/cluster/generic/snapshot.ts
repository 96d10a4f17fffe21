/** Objects of the cluster as they are now, read from the API for one turn: facts from a cache could be older than orders. */
import type { ObjectReader } from '../../apiserver/reader.ts'
import { isStatus, type KubeClient, type ListOptions, listAll } from '../../kube/client.ts'
import { caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { trustBundle } from '../../kube/rollcall/trust-bundle.ts'
import { trustConsumer } from '../../kube/rollcall/trust-consumer.ts'
import { type KubeObject, type ResourceRef, resources } from '../../kube/types.ts'
import { rootCaName } from '../../trust/root-ca.ts'
import { serviceAccountTokenType } from '../../trust/token-secrets.ts'

import type { RememberedLists } from './remembered-lists.ts'

export type Snapshot = ObjectReader

const read: readonly [ResourceRef, ListOptions][] = [
  [caRotation.ref, {}],
  [trustBundle.ref, {}],
  [trustConsumer.ref, {}],
  [resources.nodes, {}],
  [resources.pods, {}],
  [resources.leases, { namespace: 'kube-node-lease' }],
  [resources.namespaces, {}],
  [resources.certificateSigningRequests, {}],
  [resources.configMaps, { fieldSelector: `metadata.name=${rootCaName}` }],
  [resources.configMaps, { namespace: 'kube-public', fieldSelector: 'metadata.name=cluster-info' }],
  [
    resources.configMaps,
    { namespace: 'kube-system', fieldSelector: 'metadata.name=extension-apiserver-authentication' },
  ],
]
const tokenSecrets: readonly [ResourceRef, ListOptions] = [
  resources.secrets,
  { fieldSelector: `type=${serviceAccountTokenType}` },
]

export const emptySnapshot: Snapshot = readerOf(new Map())

export interface SnapshotOptions {
  /** False: without Secrets, where nobody keeps any; listing them is a right that few should have. */
  secrets?: boolean
  /** False: without Pods. */
  pods?: boolean
  /**
   * Pods and requests are many. A pod that is made after a publication mounts what was published, so that those from before
   * it are enough; absent: all is read at each call.
   */
  remembered?: { lists: RememberedLists; since: number }
}

export async function takeSnapshot(
  client: KubeClient,
  { secrets = true, pods = true, remembered }: SnapshotOptions = {},
): Promise<Snapshot> {
  const asked = secrets ? [...read, tokenSecrets] : read
  const wanted = pods ? asked : asked.filter(([resource]) => resource !== resources.pods)
  const lists = await Promise.all(
    wanted.map(async ([resource, options]) => {
      const now = () => listNow(client, resource, options)
      const slow = resource === resources.pods || resource === resources.certificateSigningRequests
      const items =
        slow && remembered ? await remembered.lists.list(resource.plural, remembered.since, now) : await now()
      return [resource.plural, items] as const
    }),
  )
  const objects = new Map<string, KubeObject[]>()
  for (const [plural, items] of lists) objects.set(plural, [...(objects.get(plural) ?? []), ...items])
  return readerOf(objects)
}

async function listNow(
  client: KubeClient,
  resource: ResourceRef,
  options: ListOptions,
): Promise<readonly KubeObject[]> {
  try {
    return (await listAll<KubeObject>(client, resource, options)).items
  } catch (error) {
    // A kind that this API does not serve has no objects.
    if (isStatus(error, 'NotFound')) return []
    throw error
  }
}

function readerOf(objects: ReadonlyMap<string, readonly KubeObject[]>): Snapshot {
  const byName = new Map<string, ReadonlyMap<string, KubeObject>>()
  for (const [plural, items] of objects)
    byName.set(
      plural,
      new Map(items.map(({ metadata }, index) => [keyOf(metadata), items[index] as KubeObject])),
    )
  return {
    get<T extends KubeObject>({ plural }: ResourceRef, name: string, namespace?: string) {
      return byName.get(plural)?.get(keyOf({ name, ...(namespace !== undefined && { namespace }) })) as
        | T
        | undefined
    },
    list<T extends KubeObject>({ plural }: ResourceRef, namespace?: string) {
      const items = (objects.get(plural) ?? []) as readonly T[]
      return namespace === undefined
        ? items
        : items.filter(({ metadata }) => metadata.namespace === namespace)
    },
    generation: () => 0,
  }
}

function keyOf({ name, namespace }: { name: string; namespace?: string }): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}
