import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KubeClient } from '../../src/kube/client.ts'
import { type ConfigMap, type KubeObject, resources } from '../../src/kube/types.ts'
import { eventually } from './eventually.ts'

const namespace = 'load'
const account = 'robot'

/** Pods whose tokens and CAs lie in files, as a kubelet lays them out; none of them runs. */
export interface PodsWithTokens {
  /** The CA file that is kept as the cluster publishes it. */
  projectedCa: string
  /** Makes a pod, with a token bound to it. Resolves with its uid and the token's file. */
  make(name: string): Promise<{ uid: string; tokenFile: string }>
  remove(name: string): Promise<void>
  stop(): Promise<void>
}

export async function podsWithTokens(client: KubeClient, folder: string): Promise<PodsWithTokens> {
  mkdirSync(folder)
  await client.create(resources.namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  })
  await client.create(resources.serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: account, namespace },
  })
  const projectedCa = join(folder, 'ca.crt')
  const published = async () => {
    const target = { name: 'kube-root-ca.crt', namespace }
    const { items } = await client.list<ConfigMap>(resources.configMaps, {
      namespace,
      fieldSelector: `metadata.name=${target.name}`,
    })
    return items[0]?.data?.['ca.crt']
  }
  let held = await eventually('the CA is published', published)
  writeFileSync(projectedCa, held)
  let stopped = false
  const following = follow()

  async function follow(): Promise<void> {
    while (!stopped) {
      const now = await published()
      if (now !== undefined && now !== held) {
        held = now
        // At once, as a kubelet does it: nobody reads half a file.
        writeFileSync(`${projectedCa}.new`, now)
        renameSync(`${projectedCa}.new`, projectedCa)
      }
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }

  async function make(name: string): Promise<{ uid: string; tokenFile: string }> {
    const pod = await client.create<KubeObject>(resources.pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace },
      spec: { serviceAccountName: account, containers: [{ name: 'c', image: 'i' }] },
    } as KubeObject)
    const asked = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name: account, namespace },
      spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name } },
    } as KubeObject
    const { status } = await client.create<KubeObject & { status?: { token: string } }>(
      resources.serviceAccounts,
      asked,
      { subresource: 'token' },
    )
    const tokenFile = join(folder, name)
    writeFileSync(tokenFile, status?.token ?? '')
    return { uid: pod.metadata.uid ?? '', tokenFile }
  }

  return {
    projectedCa,
    make,
    async remove(name) {
      await client.delete(resources.pods, { name, namespace })
    },
    async stop() {
      stopped = true
      await following
    },
  }
}
