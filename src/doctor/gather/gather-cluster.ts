import type { KubeClient } from '../../kube/client.ts'
import type { Random } from '../../ports.ts'
import { runCanary } from '../../survey/canary/run-canary.ts'
import { isControllerLease } from '../../survey/csr-facts.ts'
import { type GatheredArtifacts, nothingGathered } from '../artifacts/artifacts.ts'
import { clusterArtifactNames } from '../artifacts/cluster-artifacts.ts'
import { askAccess, joinQuestions, requesterQuestions } from './access.ts'
import { askVersion } from './api-answer.ts'
import { lookAtServer } from './api-server.ts'
import { lookAtApiServers } from './api-servers.ts'
import { listApprovers } from './approvers.ts'
import { andThen, attempt, attemptOptional } from './attempt.ts'
import { listCalledServers } from './ca-bundles.ts'
import { compareClocks } from './clocks.ts'
import { listControlPlanePrograms } from './control-plane-flags.ts'
import { gatherLedgerLeaves } from './ledger-leaves.ts'
import { listEvents, listLeases, listNodes, listRequests } from './objects.ts'
import { listPodsBeforeCa } from './pods-before-ca.ts'
import type { GatherPorts, LookAtTls } from './ports.ts'
import { gatherProbes } from './probes.ts'
import { refusalsOf } from './refusals.ts'
import { listPausedPools, listRotations } from './rotations.ts'
import { readTokenKeys } from './token-keys.ts'
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
  /** Acts as the canary (survey/canary); absent: no such request is made. */
  canary?: { asNode: KubeClient; random: Random }
}

/** Reads everything once; what may not be read is marked so, and nothing is written. */
export async function gatherCluster(
  { client, server, ownCertificate, probe, canary }: ClusterTarget,
  { clock, lookAtTls }: GatherPorts,
): Promise<GatheredArtifacts> {
  const gathered = nothingGathered('found on a node only: rollcall doctor node')
  const answer = await askVersion(client, server, clock)
  const apiAnswer = { status: 'ok', value: answer } as const
  const own: Pick<GatheredArtifacts, 'apiAnswer' | 'ownCertificate'> = {
    apiAnswer,
    ownCertificate: ownCertificate
      ? { status: 'ok', value: ownCertificate }
      : { status: 'absent', reason: 'the kubeconfig has no client certificate' },
  }
  if (answer.trouble) {
    const failed = { status: 'failed', reason: answer.trouble.message } as const
    const unread = Object.fromEntries(clusterArtifactNames.map(name => [name, failed]))
    return { ...gathered, ...unread, ...own, ...(await lookAtServer(server, lookAtTls)) }
  }
  const [requests, nodes, clusterInfo, bootstrapTokens, others, controlPlane, rollover] = await Promise.all([
    attempt(() => listRequests(client)),
    attempt(() => listNodes(client)),
    attemptOptional(() => readClusterInfo(client), 'ConfigMap kube-public/cluster-info'),
    attempt(() => listBootstrapTokens(client)),
    gatherIndependent(client, server, { clock, lookAtTls }),
    gatherControlPlane(client, lookAtTls),
    gatherRollover(client),
  ])
  const tokens = bootstrapTokens.status === 'ok' ? bootstrapTokens.value : undefined
  const all: GatheredArtifacts = {
    ...gathered,
    ...own,
    ...others,
    ...controlPlane,
    ...rollover,
    podsBeforeCa: await listPodsBeforeCa(client, others.rootCertificates),
    requests,
    nodes,
    clusterInfo,
    bootstrapTokens,
    // Who joins its nodes in another way, without cluster-info, need not have these bindings.
    joinAccess: await andThen(clusterInfo, () => askAccess(client, joinQuestions(tokens))),
    requesterAccess: await andThen(requests, waiting =>
      askAccess(client, requesterQuestions(waiting, clock.now())),
    ),
    probes: await gatherProbes(client, { nodes, requests }, { probe, lookAtTls, now: clock.now() }),
    ledgerLeaves: await gatherLedgerLeaves(client, nodes),
    // The last: it is the only thing that is written, and nothing of it is to be among what was read.
    canary: canary
      ? await attempt(() => runCanary({ ...canary, client, clock, patience: canaryPatience }))
      : { status: 'notAsked', reason: 'asked for with --canary only' },
  }
  return { ...all, refusals: refusalsOf(all) }
}

/** Milliseconds; an approver and a signer that work need one second. */
const canaryPatience = 60_000

async function gatherControlPlane(
  client: KubeClient,
  lookAtTls: LookAtTls,
): Promise<Partial<GatheredArtifacts>> {
  const [controlPlane, apiServers, calledServers] = await Promise.all([
    attempt(() => listControlPlanePrograms(client)),
    attempt(() => lookAtApiServers(client, lookAtTls)),
    attempt(() => listCalledServers(client)),
  ])
  return { controlPlane, apiServers, calledServers }
}

async function gatherRollover(client: KubeClient): Promise<Partial<GatheredArtifacts>> {
  const [approvers, rotations, pausedPools, tokenKeys] = await Promise.all([
    attempt(() => listApprovers(client)),
    attempt(() => listRotations(client)),
    attempt(() => listPausedPools(client)),
    attemptOptional(() => readTokenKeys(client), 'key of service account tokens'),
  ])
  return { approvers, rotations, pausedPools, tokenKeys }
}

async function gatherIndependent(
  client: KubeClient,
  server: string,
  { clock, lookAtTls }: GatherPorts,
): Promise<Partial<GatheredArtifacts> & Pick<GatheredArtifacts, 'rootCertificates'>> {
  const [nodeLeases, controllerLeases, events, rootCertificates, clientTrust, clocks, served] =
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
  return { nodeLeases, controllerLeases, events, rootCertificates, clientTrust, clocks, ...served }
}
