/** The adapters of the model: they carry orders out, or refuse them by their fence. */
import type { Order } from '../effects/effect.ts'
import { type Fence, issueTo, type Member, type Sink, take, verifies, type World } from './world.ts'

export function carryOut(world: World, { effect, token, sequence }: Order): void {
  const passes = (fence: Fence) => isNewer(fence, { token, sequence })
  switch (effect.kind) {
    case 'create-authority':
      // Write-once: a second order finds the key and leaves it.
      world.keys.add(effect.authority)
      return
    case 'cross-sign':
      world.crossSigned.add(`${effect.subject}-${effect.issuer}`)
      return
    case 'publish-bundle': {
      const sink = world.sinks.find(({ id }) => id === effect.sink)
      if (sink && passes(sink.fence) && effect.generation > sink.generation)
        publish(world, sink, effect.generation)
      return
    }
    case 'client-trust': {
      const server = world.servers.find(({ id }) => id === effect.server)
      if (!server?.healthy || !passes(server.fence) || effect.generation <= (server.judgesBy ?? 0)) return
      server.judgesBy = effect.generation
      server.refused.clear()
      world.signer.canary.clear()
      return
    }
    case 'present': {
      const server = world.servers.find(({ id }) => id === effect.server)
      if (!server?.healthy || !passes(server.fence)) return
      server.presents = { authority: effect.authority, mode: effect.mode, since: world.now }
      return
    }
    case 'sign-with': {
      if (!passes(world.signer.fence)) return
      const { authority, mode } = effect
      if (authority !== undefined && !world.keys.has(authority))
        world.violations.push('I8: signs with a key that is not there')
      world.signer = { ...world.signer, authority, mode }
      world.signer.canary.clear()
      return
    }
    case 'try-canary': {
      const { authority, mode } = world.signer
      const judges = world.servers.flatMap(({ judgesBy }) => judgesBy ?? [])
      const accepted =
        authority === effect.authority && judges.every(by => verifies(world, { authority, mode }, by))
      if (accepted) world.signer.canary.add(effect.authority)
      return
    }
    case 'try-refusal': {
      const server = world.servers.find(({ id }) => id === effect.server)
      const bare = { authority: effect.authority, mode: 'bare' } as const
      if (server?.healthy && server.judgesBy !== undefined && !verifies(world, bare, server.judgesBy))
        server.refused.add(effect.authority)
      return
    }
    default:
      toMember(world, { effect, token, sequence }, passes)
  }
}

const imageTakes = 40 * 60_000

function publish(world: World, sink: Sink, generation: number): void {
  if (sink.id === 'image') {
    if (sink.making?.generation !== generation) sink.making = { generation, since: world.now }
    if (world.now - sink.making.since < imageTakes) return
  }
  sink.before = sink.generation
  sink.generation = generation
}

function toMember(world: World, { effect }: Order, passes: (fence: Fence) => boolean): void {
  switch (effect.kind) {
    case 'load-bundle': {
      const member = reachable(world, effect.consumer)
      if (!member || !passes(member.fence)) return
      take(world, member, effect.generation)
      if (member.reloads) member.loaded = Math.max(member.loaded, member.disk)
      return
    }
    case 'restart': {
      const member = reachable(world, effect.consumer)
      if (
        member &&
        String(member.instance) === effect.instance &&
        isDue(world, effect) &&
        passes(member.fence)
      )
        member.restarting = true
      return
    }
    case 'probe': {
      const member = reachable(world, effect.consumer)
      if (member) prove(world, member, 3, effect.authority)
      return
    }
    case 'probe-refusal': {
      const member = reachable(world, effect.consumer)
      const bare = { authority: effect.authority, mode: 'bare' } as const
      if (member?.proof && !verifies(world, bare, member.loaded))
        member.proof = { ...member.proof, refuses: [effect.authority] }
      return
    }
    case 'renew': {
      const member = reachable(world, effect.holder)
      if (member?.renewable && isDue(world, effect) && passes(member.fence)) issueTo(world, member)
      return
    }
    default:
      return
  }
}

/** The instance that lives proves what it has loaded: by its report (2), or by a handshake with the bare chain (3). */
export function prove(world: World, member: Member, level: 2 | 3, authority: number): void {
  const trusts = verifies(world, { authority, mode: 'bare' }, member.loaded)
  if (level === 3 && !trusts) return
  const at = world.now + world.clockError
  const common = { generation: member.loaded, instance: String(member.instance), at }
  const before = member.proof
  const same = before?.instance === common.instance && before.generation === common.generation
  const known = (same && before?.authorities) || []
  const refuses = same && before?.refuses ? { refuses: before.refuses } : {}
  if (level === 3)
    member.proof = { ...common, ...refuses, level, authorities: [...new Set([...known, authority])] }
  else
    member.proof =
      known.length > 0
        ? { ...common, ...refuses, level: 3, authorities: known }
        : { ...common, ...refuses, level }
}

/** A node keeps the order and acts when its time has come. */
function isDue(world: World, { notBefore }: { notBefore: number }): boolean {
  return notBefore <= world.now + world.clockError
}

function reachable(world: World, id: string): Member | undefined {
  const member = world.byId.get(id)
  return member?.online && !member.gone && !member.restarting ? member : undefined
}

/** I7: an order of a former leader, or of an earlier step, is refused; one that is taken raises the fence. */
function isNewer(fence: Fence, { token, sequence }: Fence): boolean {
  if (token < fence.token || (token === fence.token && sequence < fence.sequence)) return false
  fence.token = token
  fence.sequence = sequence
  return true
}
