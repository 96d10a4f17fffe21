/** Begins a rotation on a running `up` and follows it to its end. */
import type { KubeClient } from '../../kube/client.ts'
import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { type TrustConsumerObject, trustConsumer } from '../../kube/rollcall/trust-consumer.ts'
import { formatTime } from '../../kube/time-format.ts'
import { type ConfigMap, resources } from '../../kube/types.ts'
import { sleep } from '../../ports.ts'
import type { HistoryEntry } from '../../rollover/history.ts'
import { generationsOf } from '../../rollover/readiness-facts.ts'
import { hostPorts } from '../host-ports.ts'
import { decodeState, stateConfigMap } from '../rollover/role-state.ts'
import { followingClient } from './following-client.ts'
import type { RunningUpFiles } from './running-up.ts'

/** Seconds instead of hours, so that it can be watched; the gates are the same, and none opens by time. */
const timings = { propagate: '1s', bridgeSoak: '3s', quiet: '4s', jitter: '1s' }
/** Milliseconds after which somebody who asked once and is silent since is left behind by name. */
const patience = 15_000

export interface RollReport {
  /** What a rotation went through, for people. */
  onStep(role: TrustRole, entry: HistoryEntry): void
  onExcluded(consumer: string, reason: string): void
  /** Another CA than the one that is trusted in advance. */
  to?: number
}

export interface RollOutcome {
  phase: string
  blockers: readonly string[]
}

/** The CA that a role has now, and the one that is trusted in advance to come next. */
export async function generationsNow(
  client: KubeClient,
  role: TrustRole,
): Promise<{ from: number; to: number }> {
  const { present, sign } = decodeState((await configMap(client))?.data)[role]
  const from = role === 'apiserver-serving' ? present.authority : (sign.authority ?? 1)
  const { items } = await client.list<CARotationObject>(caRotation.ref)
  return { from, to: Math.max(from + 1, generationsOf(role, items).to) }
}

export async function configMap(client: KubeClient): Promise<ConfigMap | undefined> {
  const { items } = await client.list<ConfigMap>(resources.configMaps, {
    namespace: stateConfigMap.namespace,
    fieldSelector: `metadata.name=${stateConfigMap.name}`,
  })
  return items[0]
}

/** Resolves when the rotation is over, or has paused itself. */
export async function runRotation(
  up: RunningUpFiles,
  role: TrustRole,
  report: RollReport,
): Promise<RollOutcome> {
  const { client, transport } = followingClient(up.paths.adminKubeconfig, 'rollcall-demo')
  try {
    return await rotate(client, role, report)
  } finally {
    transport.closeConnections()
  }
}

async function rotate(client: KubeClient, role: TrustRole, report: RollReport): Promise<RollOutcome> {
  const author = await userName(client)
  const { from, to: next } = await generationsNow(client, role)
  const to = report.to ?? next
  const name = `demo-${role}-${to}`
  await client.create<CARotationObject>(caRotation.ref, {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'CARotation',
    metadata: { name },
    spec: { role, reason: 'Scheduled', from, to, author, policy: { bridge: bridgeOf(role), timings } },
  })
  let told = 0
  for (;;) {
    await sleep(hostPorts.clock, 200)
    const rotation = await client.get<CARotationObject>(caRotation.ref, { name })
    const { status } = rotation
    const { history = [] } = (status?.state ?? {}) as { history?: HistoryEntry[] }
    for (const entry of history.filter(({ sequence }) => sequence > told)) report.onStep(role, entry)
    told = history.at(-1)?.sequence ?? told
    const phase = status?.phase ?? ''
    if (['Done', 'Aborted', 'RolledBack', 'Paused'].includes(phase))
      return { phase, blockers: status?.blockers ?? [] }
    await leaveSilent(client, rotation, author, report)
  }
}

/** A chain is bridged by a certificate beside the leaf; the signers hand out leaves alone. */
export function bridgeOf(role: TrustRole): 'CrossSigned' | 'None' {
  return role === 'apiserver-serving' ? 'CrossSigned' : 'None'
}

/**
 * Programs that came once, as kubectl does, cannot be asked any more; they read the kubeconfig at their next start. A
 * rotation leaves nobody behind by itself: the demo does, by name and with its reason, which stays in the object.
 */
async function leaveSilent(
  client: KubeClient,
  rotation: CARotationObject,
  by: string,
  report: RollReport,
): Promise<void> {
  const { metadata, spec, status } = rotation
  const about = (status?.blockers ?? []).filter(
    text => text.startsWith('Unproven: user/') || text.startsWith('Offline: user/'),
  )
  if (about.length === 0) return
  const { items } = await client.list<TrustConsumerObject>(trustConsumer.ref)
  const now = hostPorts.clock.now()
  const silent = items.filter(({ spec: { identity, consumerKind }, status: seen }) => {
    const named = consumerKind === 'External' && about.some(text => text.includes(identity))
    return named && now - Date.parse(seen?.lastSeen ?? '') > patience
  })
  const known = new Set(spec.exclusions?.map(({ consumer }) => consumer))
  const added = silent.filter(({ spec: { identity } }) => !known.has(identity))
  if (added.length === 0) return
  const reason = 'has ended; it reads its kubeconfig, which holds the new CA, when it starts again'
  const at = formatTime(now)
  const exclusions = [
    ...(spec.exclusions ?? []),
    ...added.map(({ spec: { identity: consumer } }) => ({ consumer, by, reason, at })),
  ]
  await client.patch(caRotation.ref, { name: metadata.name }, 'merge', { spec: { exclusions } })
  for (const { spec: one } of added) report.onExcluded(one.identity, reason)
}

async function userName(client: KubeClient): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: '' } }
  const { status } = await client.create<typeof review & { status?: { userInfo: { username: string } } }>(
    {
      group: 'authentication.k8s.io',
      version: 'v1',
      plural: 'selfsubjectreviews',
      kind: 'SelfSubjectReview',
      namespaced: false,
    },
    review,
  )
  return status?.userInfo.username ?? ''
}
