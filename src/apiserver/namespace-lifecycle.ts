/** A namespace that is deleted takes its content with it; what has finalizers is waited for. */
import type { KubeObject, Namespace, ResourceRef } from '../kube/types.ts'
import { resources } from '../kube/types.ts'
import type { Clock, Log, Timer } from '../ports.ts'
import { timestamp } from './object-name.ts'
import type { StoredResource } from './resources/resource.ts'
import type { Store, Stored } from './storage/store.ts'
import { encodeObject, keyOf, parseObject, prefixOf, sharedObject } from './stored-object.ts'

/** Milliseconds after which what could not be removed yet is tried again. */
const RETRY = 5000

const immortal = ['default', 'kube-system', 'kube-public']

const isNamespace = ({ group, plural }: ResourceRef) => group === '' && plural === 'namespaces'

/** Whether the object is a namespace that the cluster cannot do without. */
export function isImmortal(resource: ResourceRef, name: string): boolean {
  return isNamespace(resource) && immortal.includes(name)
}

/** The namespace in the state of being deleted; undefined for objects that are none. */
export function terminatingNamespace(resource: ResourceRef, object: KubeObject): Namespace | undefined {
  if (!isNamespace(resource)) return undefined
  const namespace: Namespace = object
  return { ...namespace, status: { ...namespace.status, phase: 'Terminating' } }
}

export interface NamespaceLifecycleOptions {
  store: Store
  resources: readonly StoredResource[]
  clock: Clock
  log: Log
}

/** Removes namespaces that are being deleted, those from before a restart included. The function returned ends it. */
export function startNamespaceLifecycle(options: NamespaceLifecycleOptions): () => void {
  const { store, clock, log } = options
  const prefix = prefixOf(resources.namespaces)
  const pending = new Map<string, Timer>()
  const running = new Set<string>()
  let stopped = false

  const schedule = (name: string, milliseconds: number) => {
    if (stopped || pending.has(name) || running.has(name)) return
    const timer = clock.after(milliseconds, () => {
      pending.delete(name)
      running.add(name)
      removeNamespace(options, name)
        .catch((error: unknown) => {
          log.warn('a namespace could not be removed yet', { namespace: name, error: String(error) })
          return false
        })
        .then(done => {
          running.delete(name)
          if (!done) schedule(name, RETRY)
        })
    })
    pending.set(name, timer)
  }
  const consider = (stored: Stored | undefined) => {
    if (stored && sharedObject(stored).metadata.deletionTimestamp)
      schedule(stored.key.slice(prefix.length), 0)
  }

  for (const stored of store.list(prefix).items) consider(stored)
  const stopWatch = store.watch(prefix, store.revision, event => consider(event.current))
  return () => {
    stopped = true
    stopWatch()
    for (const timer of pending.values()) timer.cancel()
  }
}

/** True when the namespace is gone. */
async function removeNamespace(options: NamespaceLifecycleOptions, name: string): Promise<boolean> {
  const { store } = options
  for (const resource of options.resources) {
    if (!resource.namespaced) continue
    const { items } = store.list(prefixOf(resource, name))
    await Promise.all(items.map(stored => removeContent(options, resource, stored)))
  }
  const left = options.resources.some(
    resource => resource.namespaced && store.list(prefixOf(resource, name), { limit: 1 }).items.length > 0,
  )
  const stored = store.get(keyOf(resources.namespaces, '', name))
  if (!stored) return true
  if (left || sharedObject(stored).metadata.finalizers?.length) return false
  const result = await store.write({ key: stored.key, expect: stored.modRevision, value: null })
  return result.ok
}

async function removeContent(
  { store, clock }: NamespaceLifecycleOptions,
  resource: StoredResource,
  stored: Stored,
): Promise<void> {
  const object = parseObject(stored)
  const { metadata } = object
  const write = { key: stored.key, expect: stored.modRevision }
  if (!metadata.finalizers?.length) await store.write({ ...write, value: null })
  else if (!metadata.deletionTimestamp) {
    const marked = { ...object, metadata: { ...metadata, deletionTimestamp: timestamp(clock.now()) } }
    await store.write({ ...write, value: encodeObject(resource, marked) })
  }
}
