import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyDue } from '../../rollover/due.ts'
import { anchorsOf } from '../../rollover/simulated/world.ts'
import { SeededRandom } from '../simulated/random.ts'
import { killedAtEveryStep } from './killed.ts'
import { RolloverFleet, type RolloverFleetOptions } from './rollover-fleet.ts'
import { sampleOverTls } from './tls-sample.ts'

const hour = 3_600_000
const day = 24 * hour

interface Begun {
  fleet: RolloverFleet
  random: SeededRandom
}

async function begun(seed: number, options: Partial<RolloverFleetOptions> = {}): Promise<Begun> {
  const random = new SeededRandom(`rollover ${seed}`)
  const fleet = await RolloverFleet.create({
    nodes: 12,
    role: 'apiserver-serving',
    standbys: 1,
    random,
    ...options,
  })
  return { fleet, random }
}

/** Nobody was cut off, nothing broke, and a handful of nodes talk over TLS with what they have now. */
async function nobodyLost({ fleet, random }: Begun, phase = 'Done'): Promise<void> {
  assert.deepEqual(fleet.broken, [])
  assert.deepEqual([...fleet.lost], [])
  assert.equal(fleet.world.store.plan.phase, phase, JSON.stringify(fleet.world.store.plan.paused))
  const { handshakes, talked } = await sampleOverTls(fleet, 3, random)
  assert.deepEqual([handshakes, talked], [3, 3])
}

for (const role of ['apiserver-serving', 'client', 'kubelet-serving'] as const)
  test(`seed 1: three rotations of ${role} in a row, unattended, by bundles of one meeting`, async () => {
    const now = await begun(1, { role, standbys: 3, nodes: 6 })
    for (const to of [2, 3, 4]) {
      await now.fleet.run()
      assert.equal(now.fleet.world.store.plan.to, to)
      await nobodyLost(now)
      for (const { generation } of now.fleet.world.sinks)
        assert(!anchorsOf(now.fleet.world, generation).includes(to - 1))
      if (to < 4) now.fleet.next()
    }
    assert.equal(now.fleet.bundles.ceremonies, 1)
  })

test('seed 2: from RSA to ECDSA, with nodes and agents that are known to verify both', async () => {
  const algorithm = (generation: number) => (generation === 1 ? 'RSA-2048' : 'ECDSA-P256')
  const now = await begun(2, { reason: 'Algorithm', algorithm })
  // A pod that is not asked shows nothing of what it verifies: a human who knows its program says so.
  for (const { id, kind } of now.fleet.world.members)
    if (kind === 'Pod') now.fleet.world.wishes = { ...now.fleet.world.wishes, exclusions: [exclusion(id)] }
  await now.fleet.run()
  await nobodyLost(now)
  assert.equal(now.fleet.authorities.algorithm(now.fleet.current), 'P-256')
})

const exclusion = (consumer: string) => ({ consumer, by: 'berta', reason: 'restarted by hand', at: 0 })

test('seed 3: over ten years the rotation begins by itself before the CA ends, and ends in time', async () => {
  const now = await begun(3, { firstLife: 3650 * day })
  const { world, authorities } = now.fleet
  const active = authorities.get(1)?.certificate
  assert(active)
  const due = () =>
    whyDue({ active, timings: world.store.plan.policy.timings, leafLife: 365 * day, now: world.now })
  while (due() === undefined) now.fleet.wait(7 * day)
  assert(world.now > active.notAfter - 2 * 365 * day, 'not years too early')
  await now.fleet.run()
  await nobodyLost(now)
  now.fleet.wait(active.notAfter - world.now + day)
  await nobodyLost(now)
})

test('seed 4: the CA ends tomorrow and a node is away: the deadline switches, and excludes it by name', async () => {
  const timings = { prove: '6h', wave: '10m', unbridge: '1h', distrustConsumers: '2h', distribute: '1h' }
  // One of twelve is down already: 10 % of them would leave no room to restart another.
  const policy = { timings, maxUnavailablePercent: 20 }
  const now = await begun(4, { firstLife: 1.5 * day, policy, standbys: 0 })
  const { world } = now.fleet
  await now.fleet.run({
    async before(turn) {
      if (world.store.plan.phase === 'Prepared' && now.fleet.bundles.ceremonies === 1)
        await now.fleet.ceremony(1)
      if (turn === 3) away(now.fleet, 'node-1')
    },
  })
  const { plan } = world.store
  assert(plan.history.some(({ reason }) => reason === 'DeadlineMode'))
  assert.deepEqual(
    new Set(plan.excluded.map(({ consumer }) => consumer)),
    new Set(['kubelet/node-1', 'agent/node-1']),
  )
  assert.deepEqual([[...now.fleet.lost], now.fleet.broken], [[], []])
})

test('seed 5: 5 % of the nodes are away for two days; the rotation waits for them and goes on by itself', async () => {
  const now = await begun(5, { nodes: 40, standbys: 0 })
  const { world } = now.fleet
  const names = ['node-7', 'node-23']
  await now.fleet.run({
    async before(turn) {
      if (world.store.plan.phase === 'Prepared' && now.fleet.bundles.ceremonies === 1)
        await now.fleet.ceremony(1)
      if (turn === 5) for (const name of names) away(now.fleet, name)
      const { phase, phaseSince } = world.store.plan
      // Whoever is there has long answered; hours in which nothing happens are not gone through one by one.
      if (phase === 'Proving' && world.now - phaseSince > 4 * hour) now.fleet.wait(hour)
      if (phase === 'Proving' && world.now - phaseSince > 2 * day)
        for (const name of names) back(now.fleet, name)
    },
  })
  const { history } = world.store.plan
  const [proving, bridging] = ['Proving', 'Bridging'].map(
    phase => history.find(({ to }) => to === phase)?.at ?? 0,
  )
  assert(
    (bridging ?? 0) - (proving ?? 0) > 1.5 * day,
    history.map(({ to, reason }) => `${to} ${reason}`).join(),
  )
  assert(!history.some(({ to }) => to === 'Paused'))
  await nobodyLost(now)
})

for (const role of ['apiserver-serving', 'client'] as const)
  test(`seed 6: the key of the CA of ${role} is stolen; with a standby trusted in advance no node is lost`, async () => {
    const now = await begun(6, { role, reason: 'Compromise', policy: { bridge: 'None' } })
    const { world } = now.fleet
    await now.fleet.turn()
    assert.equal(world.store.plan.phase, 'Freezing', 'somebody has to have seen who will be cut off')
    world.wishes = { ...world.wishes, confirmedBy: 'berta' }
    await now.fleet.run()
    for (const { presents, judgesBy } of world.servers) {
      assert.notEqual(presents?.authority, 1)
      assert(judgesBy === undefined || !anchorsOf(world, judgesBy).includes(1), 'a thief is refused')
    }
    assert.equal(world.store.plan.phase, 'Done')
    if (role === 'apiserver-serving') assert.deepEqual([...now.fleet.lost], [])
    // A client's certificate dies with its CA: the node renews by what it can show, and is back.
    else assert(world.members.every(({ leaf }) => leaf === undefined || leaf.authority === 2))
  })

for (const role of ['apiserver-serving', 'client', 'kubelet-serving'] as const)
  test(`seed 7: the orchestrator of ${role} dies at every step, before and amid its orders`, async () => {
    const now = await begun(7, { role, nodes: 6 })
    const deaths = await killedAtEveryStep(now.fleet)
    assert(deaths > 20, `${deaths} deaths`)
    await nobodyLost(now)
  })

function away(fleet: RolloverFleet, name: string): void {
  setOnline(fleet, name, false)
}

function back(fleet: RolloverFleet, name: string): void {
  setOnline(fleet, name, true)
}

function setOnline({ world }: RolloverFleet, name: string, online: boolean): void {
  for (const subject of ['kubelet', 'agent']) {
    const member = world.byId.get(`${subject}/${name}`)
    if (!member || member.online === online) continue
    member.online = online
    if (!online) continue
    member.lastSeen = world.now
    member.instance += 1
    member.loaded = member.disk
  }
}
