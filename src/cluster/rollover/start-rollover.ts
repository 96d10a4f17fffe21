/** The rollover controller of `up` and `server`: adapters of all roles, the loop, and what it does while nothing rotates. */
import { isStatus } from '../../kube/client.ts'
import { createEventRecorder } from '../../kube/event-recorder.ts'
import { startReflector } from '../../kube/reflector.ts'
import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import {
  type TrustBundleObject,
  type TrustRole,
  trustBundle,
  trustRoles,
} from '../../kube/rollcall/trust-bundle.ts'
import { type TrustConsumerObject, trustConsumer } from '../../kube/rollcall/trust-consumer.ts'
import { type ConfigMap, type KubeNode, resources } from '../../kube/types.ts'
import { startRolloverController } from '../../rollover/controller.ts'
import { finalPhases, type Phase } from '../../rollover/plan.ts'
import type { RotationObjects } from '../../rollover/rotation-store.ts'
import { signedBundleOf } from '../../trust/bundle-object.ts'
import { podId } from '../../trust/pod-consumers.ts'
import { clusterInfoKey, encodeStoredBundle } from '../../trust/stored-bundle.ts'
import { leafLifetime } from '../pki.ts'
import { removeGone, writeConsumers } from './consumer-writer.ts'
import { beginDueRotations } from './due-rotations.ts'
import { EmbeddedAdapter } from './embedded-adapter.ts'
import type { EmbeddedControl } from './embedded-control.ts'
import { stateConfigMap } from './role-state.ts'
import { holdCeremony } from './signed-bundles.ts'
import { Standbys } from './standby.ts'

/** Milliseconds between two looks at consumers while nothing rotates. */
const surveyEvery = 5000

export interface RunningRollover {
  stop(): Promise<void>
}

export async function startRollover(control: EmbeddedControl): Promise<RunningRollover> {
  const { reader, client, clock, random, log, trust } = control
  const standbys = new Standbys(control)
  const keepStandby = (role: TrustRole) => standbys.keep(role, rotations(), fenceOf(role))
  // At the first start before anybody has joined: nodes are given both CAs to begin with.
  await Promise.all(trustRoles.map(keepStandby))
  await firstCeremonies(control)
  rememberStrangers(control)
  const adapters = new Map(trustRoles.map(role => [role, new EmbeddedAdapter(control, role)]))
  const adapterFor = (role: TrustRole) => adapters.get(role) ?? new EmbeddedAdapter(control, role)
  const events = createEventRecorder({ client, clock, log, component: 'rollcall-rollover' })
  const state = startReflector<ConfigMap>({
    client,
    clock,
    random,
    log,
    resource: resources.configMaps,
    selectors: { namespace: stateConfigMap.namespace, fieldSelector: `metadata.name=${stateConfigMap.name}` },
    onChange: () => trust.follow(),
  })
  let surveyed = Number.NEGATIVE_INFINITY

  function rotations(): readonly CARotationObject[] {
    return reader.list<CARotationObject>(caRotation.ref)
  }

  function fenceOf(role: TrustRole): { token: number; sequence: number } {
    return { token: control.leader().token, sequence: after(role) }
  }

  async function rest(): Promise<void> {
    if (clock.monotonic() - surveyed < surveyEvery) return
    surveyed = clock.monotonic()
    const rotating = new Set(
      rotations()
        .filter(isUnderWay)
        .map(({ spec }) => spec.role),
    )
    for (const role of trustRoles) {
      const adapter = adapterFor(role)
      if (!rotating.has(role)) await keepStandby(role)
      const consumers = rotating.has(role) ? adapter.consumers : await adapter.steady(fenceOf(role))
      await writeConsumers(role, consumers, control)
    }
    await control.lease.renew()
    await publishBundles(control)
    await beginDueRotations({
      ...control,
      rotations: rotations(),
      authority: (role, generation) => control.cas.authority(role, generation),
      leafLife: leafLifetime,
    })
    await removeGone(consumersThere(control), control)
  }

  function after(role: TrustRole): number {
    const sequences = rotations().map(({ spec, status }) =>
      spec.role === role ? (status?.sequence ?? 0) : 0,
    )
    return Math.max(trust.role(role).fence.sequence, 0, ...sequences)
  }

  const objects: RotationObjects = {
    get: name => client.get<CARotationObject>(caRotation.ref, { name }),
    async putStatus(rotation) {
      try {
        await client.update(caRotation.ref, rotation, { subresource: 'status' })
        return true
      } catch (error) {
        if (isStatus(error, 'Conflict') || isStatus(error, 'NotFound')) return false
        throw error
      }
    },
  }
  const controller = startRolloverController({
    objects: { ...objects, list: async () => rotations() },
    adapterFor,
    after,
    rest,
    onStep(rotation, { plan, phase, blockers }) {
      const last = plan.history.at(-1)
      if (!last || last.sequence !== plan.sequence) return
      const warns = phase === 'Paused' || phase === 'Aborted'
      const [first] = blockers
      const why = first ? `; waits for ${first.about}: ${first.message}` : ''
      events.record(rotation, warns ? 'Warning' : 'Normal', last.reason, `${last.from} -> ${phase}${why}`)
      log.info('the CA rotation goes on', {
        rotation: rotation.metadata.name,
        from: last.from,
        to: phase,
        why: last.reason,
      })
    },
    clock,
    log,
  })
  return {
    async stop() {
      await Promise.all([controller.stop(), state.stop()])
      await events.flush()
    },
  }
}

/** Who was known before this process was there still verifies by our CAs, and has proven nothing to it. */
function rememberStrangers({ reader, trust }: EmbeddedControl): void {
  for (const { spec, status } of reader.list<TrustConsumerObject>(trustConsumer.ref)) {
    const { consumerKind: kind, identity: id } = spec
    if (kind === 'External' || kind === 'Pod')
      trust.seen.remember({ id, kind, lastSeen: Date.parse(status?.lastSeen ?? '') || 0 })
  }
}

/** Ids of who is there still: a Pod that is deleted verifies nothing any more. */
function consumersThere({ reader, trust }: EmbeddedControl): Set<string> {
  const pods = new Set(reader.list(resources.pods).map(({ metadata }) => metadata.uid))
  for (const { id, uid } of trust.seen.strangers.values())
    if (uid !== undefined && !pods.has(uid)) trust.seen.forget(id)
  const nodes = reader.list<KubeNode>(resources.nodes).map(({ metadata }) => metadata.name)
  return new Set([
    ...nodes.flatMap(name => [`agent/${name}`, `kubelet/${name}`]),
    ...trust.seen.strangers.keys(),
    ...reader.list(resources.pods).map(({ metadata }) => podId(metadata.name, metadata.uid ?? metadata.name)),
  ])
}

function isUnderWay({ status }: CARotationObject): boolean {
  return status?.phase !== undefined && !finalPhases.has(status.phase as Phase)
}

/** For nodes that were away so long that they trust nothing here: they take what their pinned roots have signed. */
async function publishBundles({ reader, client, trust }: EmbeddedControl): Promise<void> {
  const target = { name: 'cluster-info', namespace: 'kube-public' }
  const current = reader.get<ConfigMap>(resources.configMaps, target.name, target.namespace)
  const entries = trustRoles.flatMap(role => {
    const bundle = reader.get<TrustBundleObject>(trustBundle.ref, `${role}-${trust.role(role).bundle}`)
    return bundle ? [[clusterInfoKey(role), encodeStoredBundle(signedBundleOf(bundle))] as const] : []
  })
  if (!current || entries.every(([key, text]) => current.data?.[key] === text)) return
  await client.patch(resources.configMaps, target, 'merge', { data: Object.fromEntries(entries) })
}

/** A cluster that is without bundles still, since nothing may be made beside its CA, gets its first ones. */
async function firstCeremonies(control: EmbeddedControl): Promise<void> {
  const { reader, trust, clock } = control
  for (const role of trustRoles) {
    const some = reader.list<TrustBundleObject>(trustBundle.ref).some(({ spec }) => spec.role === role)
    if (!some)
      await holdCeremony(role, [trust.role(role).present.authority], { ...control, now: clock.now() })
  }
}
