/** Each API server by itself, past the load balancer before them. */
import { isIP } from 'node:net'
import { type EndpointSlice, endpointSlices } from '../../approve/reserved/cluster-objects.ts'
import { type KubeClient, listAll } from '../../kube/client.ts'
import type { Served } from '../artifacts/endpoint-artifacts.ts'
import type { LookAtTls } from './ports.ts'

interface ServedSlice extends EndpointSlice {
  ports?: { name?: string; port?: number }[]
}

/** More than anybody has; endpoints are what the cluster says, so their number is bounded. */
const most = 16

/** What each address of the Service kubernetes presents; one that cannot be reached from here says so. */
export async function lookAtApiServers(client: KubeClient, lookAtTls: LookAtTls): Promise<Served[]> {
  const { items } = await listAll<ServedSlice>(client, endpointSlices, {
    namespace: 'default',
    labelSelector: 'kubernetes.io/service-name=kubernetes',
  })
  const targets = items.flatMap(({ endpoints, ports }) => {
    const port = ports?.find(({ name }) => name === 'https')?.port ?? 6443
    return (endpoints ?? []).flatMap(({ addresses = [] }) => addresses).map(host => ({ host, port }))
  })
  const dialled = targets.filter(({ host }) => isIP(host)).slice(0, most)
  return Promise.all(dialled.map(lookAtTls))
}
