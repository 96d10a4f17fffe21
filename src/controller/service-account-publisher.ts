/** Keeps ServiceAccount `default` in every namespace, as kube-controller-manager's service account controller does. */
import { isNamespaceTerminating, isStatus, type KubeClient } from '../kube/client.ts'
import { startReflector } from '../kube/reflector.ts'
import { type KubeObject, type Namespace, resources } from '../kube/types.ts'
import { startWorkQueue } from '../kube/work-queue.ts'
import type { Clock, Log, Random } from '../ports.ts'

export interface ServiceAccountPublisherOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
}

const accountName = 'default'

export function startServiceAccountPublisher(options: ServiceAccountPublisherOptions): {
  stop(): Promise<void>
} {
  const { client, clock, random, log } = options
  const queue = startWorkQueue({ name: 'service-accounts', workers: 1, clock, log, process: publish })
  const shared = { client, clock, random, log }
  const namespaces = startReflector<Namespace>({
    ...shared,
    resource: resources.namespaces,
    onChange: (_type, namespace) => queue.add(namespace.metadata.name),
  })
  const accounts = startReflector<KubeObject>({
    ...shared,
    resource: resources.serviceAccounts,
    selectors: { fieldSelector: `metadata.name=${accountName}` },
    onChange: (_type, { metadata }) => queue.add(metadata.namespace ?? ''),
  })
  const synced = Promise.all([namespaces.synced, accounts.synced])

  async function publish(name: string, signal: AbortSignal): Promise<undefined> {
    await synced
    const namespace = namespaces.get(name)
    if (signal.aborted || !namespace || (namespace.status?.phase ?? 'Active') !== 'Active') return
    if (accounts.get(`${name}/${accountName}`)) return
    const metadata = { name: accountName, namespace: name }
    try {
      await client.create(
        resources.serviceAccounts,
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
        { signal },
      )
    } catch (error) {
      // Somebody else was faster, or the namespace goes away.
      if (!isStatus(error, 'AlreadyExists') && !isStatus(error, 'NotFound') && !isNamespaceTerminating(error))
        throw error
    }
  }

  return {
    async stop() {
      await Promise.all([queue.stop(), namespaces.stop(), accounts.stop()])
    },
  }
}
