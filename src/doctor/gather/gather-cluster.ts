import type { KubeClient } from '../../kube/client.ts'
import { isControllerLease } from '../../survey/csr-facts.ts'
import { type Gathered, type GatheredArtifacts, nothingGathered, type Served } from '../artifacts.ts'
import { askAccess, joinQuestions, requesterQuestions } from './access.ts'
import { andThen, attempt, attemptOptional } from './attempt.ts'
import { compareClocks } from './clocks.ts'
import { listEvents, listLeases, listNodes, listRequests } from './objects.ts'
import type { GatherPorts } from './ports.ts'
import { probeNodes } from './probes.ts'
import { listBootstrapTokens } from './tokens.ts'
import { listRootCertificates, readClientTrust, readClusterInfo } from './trust.ts'

export interface ClusterTarget {
  client: KubeClient
  /** E.g. `https://10.0.0.1:6443`. */
  server: string
  /** Our own client certificate in PEM, where we have one. */
  ownCertificate?: string
  /** Whether to look at the serving certificate of each node. */
  probe: boolean
}

/** Reads everything once; what may not be read is marked so, and nothing is written. */
export async function gatherCluster(
  { client, server, ownCertificate, probe }: ClusterTarget,
  { clock, lookAtTls }: GatherPorts,
): Promise<GatheredArtifacts> {
  const gathered = nothingGathered('found on a node only: rollcall doctor node')
  const [requests, nodes, clusterInfo, bootstrapTokens, others] = await Promise.all([
    attempt(() => listRequests(client)),
    attempt(() => listNodes(client)),
    attemptOptional(() => readClusterInfo(client), 'ConfigMap kube-public/cluster-info'),
    attempt(() => listBootstrapTokens(client)),
    gatherIndependent(client, server, { clock, lookAtTls }),
  ])
  const tokens = bootstrapTokens.status === 'ok' ? bootstrapTokens.value : undefined
  return {
    ...gathered,
    ...others,
    requests,
    nodes,
    clusterInfo,
    bootstrapTokens,
    // Who joins its nodes in another way, without cluster-info, need not have these bindings.
    joinAccess: await andThen(clusterInfo, () => askAccess(client, joinQuestions(tokens))),
    requesterAccess: await andThen(requests, waiting =>
      askAccess(client, requesterQuestions(waiting, clock.now())),
    ),
    ownCertificate: ownCertificate
      ? { status: 'ok', value: ownCertificate }
      : { status: 'absent', reason: 'the kubeconfig has no client certificate' },
    probes: await probesOf(nodes, probe, lookAtTls),
  }
}

async function gatherIndependent(
  client: KubeClient,
  server: string,
  { clock, lookAtTls }: GatherPorts,
): Promise<Partial<GatheredArtifacts>> {
  const [nodeLeases, controllerLeases, events, rootCertificates, clientTrust, clocks, apiServing] =
    await Promise.all([
      attempt(() => listLeases(client, 'kube-node-lease')),
      attempt(async () => (await listLeases(client, 'kube-system')).filter(isControllerLease)),
      attempt(() => listEvents(client)),
      attempt(() => listRootCertificates(client)),
      attemptOptional(
        () => readClientTrust(client),
        'ConfigMap kube-system/extension-apiserver-authentication',
      ),
      attempt(() => compareClocks(client, clock)),
      lookAtServer(server, lookAtTls),
    ])
  return { nodeLeases, controllerLeases, events, rootCertificates, clientTrust, clocks, apiServing }
}

/** What the API server presents at this URL. */
export async function lookAtServer(server: string, lookAtTls: LookAt): Promise<Gathered<Served>> {
  const url = URL.parse(server)
  if (url?.protocol !== 'https:') return { status: 'absent', reason: `${server} is not served over TLS` }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const served = await lookAtTls({ host, port: Number(url.port || 443) })
  return served.chain.length > 0
    ? { status: 'ok', value: served }
    : {
        status: 'failed',
        reason: `${host}:${served.port}: ${served.failure ?? 'no certificate was presented'}`,
      }
}

type LookAt = GatherPorts['lookAtTls']

async function probesOf(
  nodes: GatheredArtifacts['nodes'],
  probe: boolean,
  lookAtTls: LookAt,
): Promise<GatheredArtifacts['probes']> {
  if (!probe) return { status: 'notAsked', reason: 'asked for with --probe only' }
  if (nodes.status !== 'ok') return nodes
  return { status: 'ok', value: await probeNodes(nodes.value, lookAtTls) }
}
