/** Keeps kube-root-ca.crt in every namespace: made, repaired, made again when it is deleted (C-50). */
import { isNamespaceTerminating, isStatus, type KubeClient } from '../kube/client.ts'
import { startReflector } from '../kube/reflector.ts'
import { type ConfigMap, type Namespace, resources } from '../kube/types.ts'
import { startWorkQueue } from '../kube/work-queue.ts'
import type { Clock, Log, Random } from '../ports.ts'
import { publishedRootCa, rootCaName } from './root-ca.ts'

export interface RootCaPublisherOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  /** PEM bundle, or where it is asked for at each look. */
  rootCertificates: string | RootCertificates
}

export interface RootCertificates {
  /** Empty: not known yet, and nothing is written. */
  current(): string
  /** Calls `run` when it has changed. Returns how to end that. */
  onChange(run: () => void): () => void
}

/** Milliseconds. */
const conflictRetry = 200

export function startRootCaPublisher(options: RootCaPublisherOptions): { stop(): Promise<void> } {
  const { client, clock, random, log } = options
  const source = sourceOf(options.rootCertificates)
  const queue = startWorkQueue({ name: 'root-ca-publishing', workers: 1, clock, log, process: publish })
  const shared = { client, clock, random, log }
  const namespaces = startReflector<Namespace>({
    ...shared,
    resource: resources.namespaces,
    onChange: (_type, namespace) => queue.add(namespace.metadata.name),
  })
  const configMaps = startReflector<ConfigMap>({
    ...shared,
    resource: resources.configMaps,
    selectors: { fieldSelector: `metadata.name=${rootCaName}` },
    onChange: (_type, { metadata }) => queue.add(metadata.namespace ?? ''),
  })
  const synced = Promise.all([namespaces.synced, configMaps.synced])

  async function publish(name: string, signal: AbortSignal): Promise<number | undefined> {
    await synced
    const namespace = namespaces.get(name)
    if (signal.aborted || !namespace || (namespace.status?.phase ?? 'Active') !== 'Active') return undefined
    const current = configMaps.get(`${name}/${rootCaName}`)
    const certificates = source.current()
    // Not known yet: what stands is better than nothing, by which nobody trusts anybody.
    if (certificates === '') return undefined
    const wanted = publishedRootCa(name, certificates, current)
    if (!wanted) return undefined
    try {
      if (current) await client.update(resources.configMaps, wanted, { signal })
      else await client.create(resources.configMaps, wanted, { signal })
      return undefined
    } catch (error) {
      if (isStatus(error, 'NotFound') || isNamespaceTerminating(error)) return undefined
      if (isStatus(error, 'Conflict') || isStatus(error, 'AlreadyExists')) return conflictRetry
      throw error
    }
  }

  const end = source.onChange(() => {
    for (const { metadata } of namespaces.list()) queue.add(metadata.name)
  })
  return {
    async stop() {
      end()
      await Promise.all([queue.stop(), namespaces.stop(), configMaps.stop()])
    },
  }
}

function sourceOf(certificates: string | RootCertificates): RootCertificates {
  return typeof certificates === 'string'
    ? { current: () => certificates, onChange: () => () => {} }
    : certificates
}
