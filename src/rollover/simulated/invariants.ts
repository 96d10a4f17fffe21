/** I1 to I14 of a rotation, asked of the model's world from outside after every action. */
import type { Order } from '../effects/effect.ts'
import { firstForged } from '../history.ts'
import type { Plan } from '../plan.ts'
import { anchorsOf, type Member, verifies, type World } from './world.ts'

/** What is broken now, each with its number; nothing where all is well. */
export function brokenInvariants(world: World): string[] {
  const { plan } = world.store
  const emergency = plan.reason === 'Compromise'
  return [
    ...(emergency
      ? []
      : [...whoCannotVerify(world), ...sinksThatDropTooMuch(world), ...seedsLeftBehind(world)]),
    ...(emergency ? [] : issuedTooEarly(world)),
    ...world.members.flatMap(member => memberTroubles(member)),
    ...restartsBeyondRoom(world),
    ...(firstForged(plan.history, plan.id) === undefined ? [] : ['I7: the history is not what was written']),
    ...plan.excluded
      .filter(({ by, reason }) => by === '' || reason === '')
      .map(({ consumer }) => `I14: ${consumer}`),
    ...world.violations,
  ]
}

const counts = (world: World, member: Member): boolean =>
  member.online && !member.gone && !world.store.plan.excluded.some(({ consumer }) => consumer === member.id)

/** I1 for presenting servers, I3 for judging ones: every conversation of two who live is a handshake that succeeds. */
function whoCannotVerify(world: World): string[] {
  return cutOff(world).map(({ trouble }) => trouble)
}

/** Who lives and cannot talk to a server that is well, and why. */
export function cutOff(world: World): { member: string; trouble: string }[] {
  const troubles: { member: string; trouble: string }[] = []
  for (const { id, presents, judgesBy, healthy } of world.servers) {
    if (!healthy) continue
    for (const member of world.members) {
      if (!counts(world, member)) continue
      if (presents && member.verifies && !verifies(world, presents, member.loaded))
        troubles.push({
          member: member.id,
          trouble: `I1: ${member.id} (bundle ${member.loaded}) cannot verify CA ${presents.authority} ${presents.mode} of ${id}`,
        })
      if (
        judgesBy !== undefined &&
        member.leaf &&
        member.leaf.notAfter > world.now &&
        !verifies(world, member.leaf, judgesBy)
      )
        troubles.push({
          member: member.id,
          trouble: `I3: ${id} (bundle ${judgesBy}) refuses ${member.id} with its leaf of CA ${member.leaf.authority}`,
        })
    }
  }
  return troubles
}

/** I2: no sink holds a bundle by which a live leaf of the role cannot be verified any more. */
function sinksThatDropTooMuch(world: World): string[] {
  const leaves = world.members
    .filter(member => counts(world, member))
    .flatMap(({ leaf }) => (leaf && leaf.notAfter > world.now ? leaf : []))
  const served = world.servers.flatMap(({ presents }) => presents ?? [])
  const old = [...leaves, ...served].filter(({ authority }) => authority === world.store.plan.from)
  return world.sinks
    .filter(({ generation }) => old.some(chain => !verifies(world, chain, generation)))
    .map(({ id }) => `I2: ${id} drops CA ${world.store.plan.from} while it is needed`)
}

/** I10: the old chain is served bare of it, or sinks drop it, only when all seeds have the new CA. */
function seedsLeftBehind(world: World): string[] {
  const { from, to, deadline } = world.store.plan
  const removed =
    // What the deadline forces it forces for seeds that are not ready, too.
    (!deadline &&
      world.servers.some(({ presents }) => presents?.authority === to && presents.mode === 'bare')) ||
    world.sinks.some(({ generation }) => !anchorsOf(world, generation).includes(from))
  const seeds = world.sinks.filter(
    ({ seed, generation }) => seed && !anchorsOf(world, generation).includes(to),
  )
  return removed ? seeds.map(({ id }) => `I10: ${id} seeds without CA ${to}`) : []
}

/** I4: the new CA signs only when every server that judges its leaves has loaded it. */
function issuedTooEarly(world: World): string[] {
  const { to } = world.store.plan
  if (world.signer.authority !== to) return []
  return world.servers
    .filter(({ judgesBy }) => judgesBy !== undefined && !anchorsOf(world, judgesBy).includes(to))
    .map(({ id }) => `I4: CA ${to} signs and ${id} has not loaded it`)
}

/** I6 and I11. */
function memberTroubles({ id, proof, instance, loaded, leaf }: Member): string[] {
  const troubles: string[] = []
  if (proof && proof.instance === String(instance) && proof.generation > loaded)
    troubles.push(`I6: ${id} proved bundle ${proof.generation} and has ${loaded}`)
  if (leaf && leaf.notAfter > leaf.issuerNotAfter) troubles.push(`I11: the leaf of ${id} outlives its issuer`)
  return troubles
}

/** I12. */
function restartsBeyondRoom(world: World): string[] {
  const nodes = world.members.filter(({ kind, gone }) => kind === 'Kubelet' && !gone)
  const most = Math.max(1, Math.floor((nodes.length * world.store.plan.policy.maxUnavailablePercent) / 100))
  const down = nodes.filter(({ restarting }) => restarting).length
  return down > most ? [`I12: ${down} nodes are down by our doing, ${most} may be`] : []
}

const restoring = new Set(['present', 'sign-with', 'client-trust', 'publish-bundle'])

/** I13: what goes out in a pause. */
export function brokenByPause(plan: Plan, orders: readonly Order[]): string[] {
  if (plan.paused === undefined) return []
  return orders
    .filter(({ effect }) => {
      const forward = effect.kind === 'present' && effect.mode === 'bare' && effect.authority === plan.to
      return !restoring.has(effect.kind) || forward
    })
    .map(({ effect }) => `I13: ${effect.kind} in a pause`)
}
