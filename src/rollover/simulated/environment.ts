/** What else happens in a cluster: nodes come, go, restart, are made anew; clocks jump; people wish. */
import type { Random } from '../../ports.ts'
import { prove } from './carry-out.ts'
import { addNode, anchorsOf, holdCeremony, issueTo, type Member, take, type World } from './world.ts'

const minute = 60_000
const hour = 60 * minute

const chances = {
  pass: 30,
  synced: 15,
  reported: 15,
  restarted: 6,
  renewed: 4,
  away: 4,
  back: 5,
  remade: 3,
  removed: 1,
  joined: 4,
  jumped: 3,
  server: 3,
  wished: 8,
}
export type Happening = keyof typeof chances

export interface EnvironmentOptions {
  /** M0. */
  nonMonotonic: boolean
  /** What happens more or less often than usual, in percent. */
  often?: Partial<Record<Happening, number>>
}

/** One thing that happens, by chance. What it was goes into the trace. */
export function happen(world: World, random: Random, options: EnvironmentOptions): string {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random.float() * list.length)]
  const alive = world.members.filter(({ gone }) => !gone)
  const online = alive.filter(member => member.online)
  const isNode = ({ kind }: Member) => kind === 'Kubelet'
  const member = pick(online)
  switch (drawn(random, { ...chances, ...options.often })) {
    case 'pass':
      return pass(world, pick([minute, 10 * minute, 20 * minute, 2 * hour]) ?? 0)
    case 'synced':
      return member ? synced(world, member, random, options) : 'nobody'
    case 'reported':
      return member ? reported(world, member) : 'nobody'
    case 'restarted':
      return member ? restarted(member) : 'nobody'
    case 'renewed':
      return member ? renewed(world, member) : 'nobody'
    case 'away':
      return away(pick(online.filter(isNode)))
    case 'back':
      return back(world, pick(alive.filter(({ online: here }) => !here)))
    case 'remade':
      return remade(world, pick(alive.filter(isNode)))
    case 'removed':
      return removed(pick(alive.filter(({ id }) => id.startsWith('joiner'))))
    case 'joined':
      return joined(world)
    case 'jumped':
      return jumped(world, random)
    case 'server':
      return serverTrouble(world, random)
    case 'wished':
      return wished(world, random, pick(alive))
  }
}

function drawn(random: Random, weights: Record<Happening, number>): Happening {
  const entries = Object.entries(weights) as [Happening, number][]
  let rest = random.float() * entries.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [name, weight] of entries) {
    rest -= weight
    if (rest < 0) return name
  }
  return 'pass'
}

/** Time goes on, who is online shows it, restarts that were ordered end. */
export function pass(world: World, milliseconds: number): string {
  world.now += milliseconds
  for (const member of world.members) {
    if (member.restarting) restarted(member)
    if (member.online && !member.gone) member.lastSeen = world.now + world.clockError
  }
  return `pass ${milliseconds / minute} min`
}

export function synced(
  world: World,
  member: Member,
  random: Random,
  { nonMonotonic }: EnvironmentOptions,
): string {
  const places = world.sinks.filter(({ seed }) => !seed)
  const sink = places[Math.floor(random.float() * places.length)]
  if (sink === undefined) return 'no sink'
  // A cache or a replica may answer with what was there before. I5: a lower generation is refused.
  const read = random.float() < 0.2 ? sink.before : sink.generation
  if (nonMonotonic) member.disk = read
  else take(world, member, read)
  const hot = member.reloads || member.kind === 'External'
  if (hot && (nonMonotonic || read > member.loaded)) member.loaded = member.disk
  return `${member.id} synced ${member.disk}`
}

function reported(world: World, member: Member): string {
  if (member.restarting) return `${member.id} is down`
  prove(world, member, 2, world.store.plan.to)
  return `${member.id} reported ${member.loaded}`
}

function restarted(member: Member): string {
  member.instance += 1
  member.restarting = false
  member.loaded = member.disk
  return `${member.id} restarted with ${member.loaded}`
}

function renewed(world: World, member: Member): string {
  if (member.leaf && member.renewable) issueTo(world, member)
  return `${member.id} renewed`
}

function away(member: Member | undefined): string {
  if (!member) return 'nobody to leave'
  member.online = false
  return `${member.id} away`
}

function back(world: World, member: Member | undefined): string {
  if (!member) return 'nobody to return'
  member.online = true
  member.lastSeen = world.now + world.clockError
  return `${member.id} back, ${restarted(member)}`
}

/** Its Node is deleted: nobody waits for it any longer. */
function removed(member: Member | undefined): string {
  if (!member) return 'nobody to remove'
  member.gone = true
  return `${member.id} removed`
}

/** A node is made anew from the image: another instance, the image's trust, a new certificate. */
function remade(world: World, member: Member | undefined): string {
  const image = world.sinks.find(({ id }) => id === 'image')
  if (!member || !image) return 'nothing to remake'
  member.disk = image.generation
  member.online = true
  member.lastSeen = world.now + world.clockError
  // In an emergency nobody signs: the node has no certificate until somebody does.
  delete member.leaf
  issueTo(world, member)
  return `${member.id} remade, ${restarted(member)}`
}

function joined(world: World): string {
  if (world.joiners >= 2) return 'enough joined'
  world.joiners += 1
  const member = addNode(world, `joiner-${world.joiners}`)
  return `${member.id} joined with ${member.loaded}`
}

function jumped(world: World, random: Random): string {
  world.clockError = random.float() < 0.5 ? 0 : Math.round((random.float() - 0.5) * 20 * 24) * hour
  return `clock error ${world.clockError / hour} h`
}

function serverTrouble(world: World, random: Random): string {
  const server = world.servers[Math.floor(random.float() * world.servers.length)]
  if (!server) return 'no server'
  if (random.float() < 0.5) server.healthy = !server.healthy
  else {
    server.instance += 1
    server.refused.clear()
  }
  return `${server.id} instance ${server.instance}, healthy ${server.healthy}`
}

function wished(world: World, random: Random, member: Member | undefined): string {
  const dice = random.float()
  const { wishes, store } = world
  const at = world.now + world.clockError
  if (dice < 0.1) holdCeremony(world)
  else if (dice < 0.2) world.wishes = { ...wishes, pause: !wishes.pause }
  else if (dice < 0.4) world.wishes = { ...wishes, resume: store.plan.sequence }
  else if (dice < 0.45) world.wishes = { ...wishes, rollback: true }
  else if (dice < 0.6 && member && !member.online) {
    const exclusion = { consumer: member.id, by: 'berta', reason: 'broken hardware', at }
    world.wishes = { ...wishes, exclusions: [...wishes.exclusions, exclusion] }
  } else vouch(world)
  return 'wished'
}

/** A human who looked: says so for outsiders whose trust really is there. */
export function vouch(world: World): void {
  for (const member of world.members) {
    if (
      member.kind !== 'External' ||
      !world.pool.verifies({ authority: world.store.plan.to, mode: 'bare' }, anchorsOf(world, member.loaded))
    )
      continue
    const known = world.wishes.acknowledgements.some(({ consumer }) => consumer === member.id)
    if (known) continue
    const acknowledgement = { consumer: member.id, by: 'berta', at: world.now + world.clockError }
    world.wishes = { ...world.wishes, acknowledgements: [...world.wishes.acknowledgements, acknowledgement] }
  }
}
