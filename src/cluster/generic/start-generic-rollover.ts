/** The rollover controller of `rollcall controller --rollover`: while this process leads, rotations of the managed roles go on. */
import { isStatus } from '../../kube/client.ts'
import { createEventRecorder } from '../../kube/event-recorder.ts'
import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { type TrustBundleObject, type TrustRole, trustBundle } from '../../kube/rollcall/trust-bundle.ts'
import { type KubeNode, resources } from '../../kube/types.ts'
import { connectUndici } from '../../kube/undici-transport.ts'
import { startRolloverController } from '../../rollover/controller.ts'
import { finalPhases, newPlan, noWishes, type Phase, type Plan } from '../../rollover/plan.ts'
import { policyOf } from '../../rollover/policy.ts'
import { generationsOf } from '../../rollover/readiness-facts.ts'
import type { RotationObjects } from '../../rollover/rotation-store.ts'
import { type ConsumingPod, podConsumers } from '../../trust/pod-consumers.ts'
import { KubeadmAdapter } from '../kubeadm/kubeadm-adapter.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import { removeGone, writeConsumers } from '../rollover/consumer-writer.ts'
import { holdCeremony } from '../rollover/signed-bundles.ts'
import { GenericAdapter } from './generic-adapter.ts'
import { type GenericControl, leaderNow } from './generic-control.ts'
import { tokenSecretsIn } from './generic-facts.ts'
import { type ManagedRole, managedRoles } from './rollover-file.ts'
import { takeSnapshot } from './snapshot.ts'
import { unmanagedAdapter } from './unmanaged-role.ts'

/** Milliseconds of asking that nobody has to be spared. */
const quickEnough = 1000
/** Turns between two looks at the consumers of a role that is not rotated. */
const surveyEvery = 10

export function startGenericRollover(control: GenericControl): { stop(): Promise<void> } {
  const { client, clock, log, file } = control
  // Another may have led before: what stands is read before anything is signed.
  control.trust.forget()
  const adapters = new Map<TrustRole, GenericAdapter | KubeadmAdapter>()
  for (const role of managedRoles) {
    const cas = control.cas[role]
    if (cas) adapters.set(role, adapterOf(control, role, cas))
  }
  const events = createEventRecorder({ client, clock, log, component: 'rollcall-rollover' })
  let rotations: readonly CARotationObject[] = []
  let prepared = false
  let surveyed = Number.NEGATIVE_INFINITY

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

  async function list(): Promise<readonly CARotationObject[]> {
    if (!prepared) await prepare()
    prepared = true
    await control.trust.follow()
    const { items } = await client.list<CARotationObject>(caRotation.ref)
    rotations = items
    return items
  }

  /** A cluster without bundles gets its first ones; and from now on every leaf is written down. */
  async function prepare(): Promise<void> {
    await control.trust.follow()
    const leader = await leaderNow(control)
    const reader = await takeSnapshot(client, { secrets: file.tokenSecrets })
    for (const role of adapters.keys() as Iterable<ManagedRole>) {
      const cas = control.cas[role]
      const some = reader.list<TrustBundleObject>(trustBundle.ref).some(({ spec }) => spec.role === role)
      if (cas && !some)
        await holdCeremony(role, [1], { client, reader, roots: control.roots, cas, now: clock.now() })
      const state = control.trust.role(role)
      if (state && state.ledgerSince === undefined)
        await control.trust.change(role, { ...state.fence, token: leader.token }, () => ({
          ledgerSince: clock.now(),
        }))
    }
  }

  function after(role: TrustRole): number {
    const sequences = rotations.map(({ spec, status }) => (spec.role === role ? (status?.sequence ?? 0) : 0))
    const adapter = adapters.get(role)
    const known = adapter && control.trust.role(role as ManagedRole)?.fence.sequence
    const told = adapter && 'fence' in adapter ? adapter.fence?.sequence : undefined
    return Math.max(0, known ?? 0, told ?? 0, ...sequences)
  }

  async function rest(): Promise<void> {
    if (clock.monotonic() - surveyed < surveyEvery * file.interval) return
    surveyed = clock.monotonic()
    const rotating = new Set(rotations.filter(isUnderWay).map(({ spec }) => spec.role))
    const reader = await takeSnapshot(client, { secrets: file.tokenSecrets })
    for (const [role, adapter] of adapters) {
      const next = nextPlan(role, rotations, after(role), clock.now())
      const seen = rotating.has(role) ? adapter.consumers : await adapter.steady(next)
      await writeConsumers(role, seen, { reader, client, clock })
    }
    await removeGone(idsThere(reader), { reader, client })
  }

  /** About a fifth of the time is spent on asking at most, however large the cluster is. */
  function pause(): number {
    const took = [...adapters.values()].map(adapter => ('took' in adapter ? adapter.took : 0))
    return Math.max(file.interval, 4 * (Math.max(0, ...took) - quickEnough))
  }

  const controller = startRolloverController({
    objects: { ...objects, list },
    adapterFor: role => adapters.get(role) ?? unmanagedAdapter(role, control),
    after,
    rest,
    onStep(rotation, { plan, phase, blockers }) {
      const last = plan.history.at(-1)
      if (!last || last.sequence !== plan.sequence) return
      const warns = phase === 'Paused' || phase === 'Aborted'
      const [first] = blockers
      const why = first ? `; waits for ${first.about}: ${first.message}` : ''
      events.record(rotation, warns ? 'Warning' : 'Normal', last.reason, `${last.from} -> ${phase}${why}`)
      const { name } = rotation.metadata
      const adapter = adapters.get(plan.role)
      if (last.from === 'Preflight' && adapter && 'restarts' in adapter)
        events.record(
          rotation,
          'Normal',
          'RestartsNamed',
          `started anew at most: ${adapter.restarts().join('; ')}`,
        )
      log.info('the CA rotation goes on', { rotation: name, from: last.from, to: phase, why: last.reason })
    },
    pace: {
      get busy() {
        return pause()
      },
      get idle() {
        return pause()
      },
    },
    clock,
    log,
  })
  return {
    async stop() {
      await controller.stop()
      control.trust.forget()
      await events.flush()
    },
  }
}

/** Where kubeadm made the control plane its agents carry out what is decided; it has one CA for both roles. */
function adapterOf(
  control: GenericControl,
  role: ManagedRole,
  cas: CaStore,
): GenericAdapter | KubeadmAdapter {
  const { kubeadm } = control.file
  if (!kubeadm) return new GenericAdapter(control, role, cas)
  const { client = cas } = control.cas
  return new KubeadmAdapter(
    { ...control, ...kubeadm, cas: client, connect: connectUndici, leader: () => leaderNow(control) },
    role,
  )
}

function isUnderWay({ status }: CARotationObject): boolean {
  return status?.phase !== undefined && !finalPhases.has(status.phase as Phase)
}

/** The rotation that would come next, as nobody has begun it. */
function nextPlan(role: TrustRole, rotations: readonly CARotationObject[], after: number, now: number): Plan {
  const { from, to } = generationsOf(role, rotations)
  const asked = { id: 'survey', role, reason: 'Scheduled', author: '', from, to } as const
  return newPlan({ ...asked, policy: policyOf(), wishes: noWishes, after, now })
}

/** Ids of who is there still: a Pod that is deleted verifies nothing any more. */
function idsThere(reader: Awaited<ReturnType<typeof takeSnapshot>>): Set<string> {
  const nodes = reader.list<KubeNode>(resources.nodes).map(({ metadata }) => metadata.name)
  const pods = podConsumers(reader.list<ConsumingPod>(resources.pods), {
    generation: 0,
    tokenSecrets: tokenSecretsIn(reader),
    now: 0,
  })
  return new Set([
    ...nodes.flatMap(name => [`agent/${name}`, `kubelet/${name}`]),
    ...pods.map(({ id }) => id),
  ])
}
