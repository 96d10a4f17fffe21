import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { silentLog, sleep } from '../ports.ts'
import { leaseServer } from '../testing/lease-server.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { createClient } from './client.ts'
import { startLeaseElection } from './lease-election.ts'

function setUp(count: number, seed = 1) {
  const clock = createManualClock(Date.UTC(2026, 0, 1))
  const server = leaseServer(clock)
  const leaders = new Set<string>()
  let most = 0
  const candidates = Array.from({ length: count }, (_, n) => {
    const identity = `candidate-${n}`
    const faults = { cut: false, answerDelay: 0 }
    const election = startLeaseElection({
      client: createClient(server.link(faults)),
      clock,
      random: seededRandom(seed + n),
      log: silentLog,
      namespace: 'kube-system',
      name: 'rollcall',
      identity,
      async lead(signal) {
        leaders.add(identity)
        most = Math.max(most, leaders.size)
        while (!signal.aborted) await sleep(clock, 60_000, signal)
        leaders.delete(identity)
      },
    })
    return { identity, faults, election }
  })
  const stop = () => Promise.all(candidates.map(({ election }) => election.stop()))
  return { clock, server, leaders, candidates, most: () => most, stop }
}

test('exactly one of several leads, and keeps leading', async () => {
  const { clock, server, leaders, candidates, stop } = setUp(3)
  await clock.advance(5_000)
  const [leader] = leaders
  await clock.advance(600_000)
  assert.deepEqual([...leaders], [leader])
  assert.deepEqual(candidates.filter(({ election }) => election.isLeader()).length, 1)
  assert.ok(candidates.every(({ election }) => election.holder() === leader))
  assert.equal(server.lease()?.spec?.leaseTransitions, 0)
  await stop()
  assert.equal(clock.pending(), 0)
})

test('the lease carries MicroTime with six digits and whole seconds', async () => {
  const { clock, server, stop } = setUp(1)
  await clock.advance(5_000)
  const spec = server.lease()?.spec
  assert.match(spec?.renewTime ?? '', /^2026-01-01T00:00:0\d\.\d{6}Z$/)
  assert.equal(spec?.acquireTime, '2026-01-01T00:00:00.000000Z')
  assert.equal(spec?.leaseDurationSeconds, 15)
  await stop()
})

test('stopping gives the lease up, so that the next leads within seconds', async () => {
  const { clock, server, leaders, candidates, stop } = setUp(2)
  await clock.advance(5_000)
  const first = candidates.find(({ election }) => election.isLeader())
  await first?.election.stop()
  assert.equal(server.lease()?.spec?.holderIdentity, '')
  await clock.advance(5_000)
  assert.equal(leaders.size, 1)
  assert.ok(!leaders.has(first?.identity ?? ''))
  assert.equal(server.lease()?.spec?.leaseTransitions, 1)
  await stop()
})

test('stopped while it takes the lease, it gives it up, never leads, and ends', async () => {
  const { clock, server, leaders, candidates, stop } = setUp(1)
  let most = 0
  for (const { faults } of candidates) faults.answerDelay = 1_000
  await clock.advance(500)
  const stopped = stop().then(() => true)
  for (let second = 0; second < 30; second++) {
    await clock.advance(1_000)
    most = Math.max(most, leaders.size)
  }
  assert.equal(await Promise.race([stopped, Promise.resolve(false)]), true)
  assert.equal(most, 0)
  assert.equal(server.lease()?.spec?.holderIdentity, '')
  assert.equal(clock.pending(), 0)
})

test('a leader cut off from the API stops within 10 s, and another takes over after 15 s', async () => {
  const { clock, leaders, candidates, stop } = setUp(2)
  await clock.advance(5_000)
  const first = candidates.find(({ election }) => election.isLeader())
  assert.ok(first)
  first.faults.cut = true
  await clock.advance(10_000)
  assert.equal(leaders.size, 0)
  await clock.advance(12_000)
  assert.equal(leaders.size, 1)
  assert.ok(!leaders.has(first.identity))
  await stop()
})

test('a leader whose work fails at once does not spin', async () => {
  const clock = createManualClock(0)
  let terms = 0
  const election = startLeaseElection({
    client: createClient(leaseServer(clock).link({ cut: false, answerDelay: 0 })),
    clock,
    random: seededRandom(1),
    log: silentLog,
    namespace: 'n',
    name: 'l',
    identity: 'i',
    async lead() {
      terms++
      throw new Error('broken')
    },
  })
  await clock.advance(60_000)
  assert.ok(terms > 5 && terms <= 31, `${terms} terms in a minute`)
  await election.stop()
})

test('whatever links are cut or slow, two never lead at once, and when all is well again one does', async () => {
  const step = fc.record({
    candidate: fc.nat(2),
    cut: fc.boolean(),
    answerDelay: fc.constantFrom(0, 100, 3_000, 9_000, 20_000),
    wait: fc.nat(20_000),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), fc.nat(), async (steps, seed) => {
      const { clock, leaders, candidates, most, stop } = setUp(3, seed)
      for (const { candidate, wait, ...faults } of steps) {
        Object.assign(candidates[candidate]?.faults ?? {}, faults)
        await clock.advance(wait)
      }
      for (const { faults } of candidates) Object.assign(faults, { cut: false, answerDelay: 0 })
      await clock.advance(60_000)
      assert.equal(most(), 1)
      assert.equal(leaders.size, 1)
      await stop()
      assert.equal(clock.pending(), 0)
    }),
    { numRuns: 60 },
  )
})
