/** What an orchestrator can know of the model's world. */
import { kubeletKeyTypes } from '../../kube/rollcall/trust-consumer.ts'
import type { AuthorityFacts, ConsumerFacts, LeafHolder, Observations, ServerFacts } from '../observations.ts'
import { anchorsOf, type Member, type Server, verifies, type World } from './world.ts'

export function observe(world: World, token: number): Observations {
  const { plan } = world.store
  const { from, to } = plan
  return {
    gatheredAfter: plan.sequence,
    now: world.now + world.clockError,
    clockSkew: world.clockError,
    leader: { identity: `orchestrator-${token}`, token },
    preflight: { oldKeyUsable: true, quorumHealthy: true, backupRecent: true },
    authorities: new Map([...world.keys].map(generation => [generation, authorityFacts(world, generation)])),
    artefacts: {
      newCa: world.keys.has(to),
      newByOld: world.crossSigned.has(`${to}-${from}`),
      oldByNew: world.crossSigned.has(`${from}-${to}`),
    },
    bundles: world.bundles,
    sinks: world.sinks.map(({ id, seed, generation }) => {
      return { id, seed, generation, anchors: anchorsOf(world, generation) }
    }),
    servers: world.servers.map(server => serverFacts(world, server)),
    signer: {
      ...(world.signer.authority === undefined ? {} : { authority: world.signer.authority }),
      mode: world.signer.mode,
      canaryAccepted: [...world.signer.canary],
    },
    consumers: [...serverConsumers(world), ...world.members.map(member => consumerFacts(world, member))],
    leaves: { holders: holders(world), ledgerComplete: true, lastUsed: new Map() },
    health: { errorRate: 0, baselineErrorRate: 0, failedInWave: 0, oldestPendingRequest: 0 },
  }
}

function authorityFacts(world: World, generation: number): AuthorityFacts {
  const notAfter = world.ends(generation)
  return {
    generation,
    subject: `ca-${generation}`,
    keyIdentifier: `${generation}`,
    key: `${generation}`,
    algorithm: world.pool.algorithm?.(generation) ?? 'Ed25519',
    notBefore: notAfter - 3650 * 86_400_000,
    notAfter,
    mayCrossSign: true,
    keyUsable: true,
  }
}

function serverFacts(
  world: World,
  { id, instance, healthy, presents, judgesBy, refused }: Server,
): ServerFacts {
  const { from, to } = world.store.plan
  return {
    id,
    instance: String(instance),
    healthy,
    ...(presents && {
      presents,
      probes: {
        oldOnly: world.pool.verifies(presents, [from]),
        newOnly: world.pool.verifies(presents, [to]),
        both: world.pool.verifies(presents, [from, to].sort()),
      },
    }),
    ...(judgesBy === undefined
      ? {}
      : { judgesBy, accepts: anchorsOf(world, judgesBy), refused: [...refused] }),
  }
}

/** API servers verify too: clients, or kubelets' serving certificates. What they load is in their own report. */
function serverConsumers(world: World): ConsumerFacts[] {
  return world.servers.flatMap(({ id, instance, judgesBy, healthy }) => {
    if (judgesBy === undefined) return []
    const { to, from } = world.store.plan
    const authorities = [to, from].filter(one => verifies(world, { authority: one, mode: 'bare' }, judgesBy))
    const at = world.now + world.clockError
    return {
      id,
      kind: 'APIServer' as const,
      roles: [world.role],
      instance: String(instance),
      lastSeen: healthy ? at : 0,
      orderable: false,
      reloads: true,
      proof: {
        level: 3 as const,
        generation: judgesBy,
        instance: String(instance),
        at,
        authorities,
      },
    }
  })
}

function consumerFacts(world: World, member: Member): ConsumerFacts {
  const { id, kind, instance, gone, reloads, orderable, disk, proof } = member
  return {
    id,
    kind,
    roles: member.verifies ? [world.role] : [],
    instance: String(instance),
    lastSeen: member.lastSeen,
    orderable,
    reloads,
    onDisk: disk,
    ...(kind === 'Kubelet' && { algorithms: kubeletKeyTypes }),
    unavailable: !member.online || member.restarting,
    ...(gone ? { gone } : {}),
    ...(proof ? { proof } : {}),
  }
}

function holders(world: World): Map<number, LeafHolder[]> {
  const all = new Map<number, LeafHolder[]>()
  for (const { id, leaf, gone, renewable } of world.members) {
    if (leaf === undefined || gone) continue
    const holder = { holder: id, notAfter: leaf.notAfter, renewable }
    const list = all.get(leaf.authority)
    if (list) list.push(holder)
    else all.set(leaf.authority, [holder])
  }
  return all
}
