import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { FairQueue, type Release, type Seat } from './fair-queue.ts'
import type { Flow } from './flow.ts'
import { defaultFairness, type FairnessLimits } from './limits.ts'

const node = (name: string): Flow => ({ level: 'node', name: `system:node:${name}` })
const controllers: Flow = { level: 'control-plane', name: 'rollcall:controllers' }

/** Three seats in all, two for a node, of which two more may wait. */
function queue(more: Partial<FairnessLimits> = {}) {
  const clock = createManualClock(0)
  const levels = {
    ...defaultFairness.levels,
    node: { running: 2, waiting: 2, watches: 2, rate: { perSecond: 10, burst: 8 } },
  }
  return { clock, fair: new FairQueue(clock, { ...defaultFairness, levels, running: 3, ...more }) }
}

/** What a call of `enter` has come to so far. */
function entered(seat: Seat | Promise<Seat>) {
  const state: { outcome: string; release: Release } = { outcome: 'waits', release: () => {} }
  const settled = (seat: Seat) => {
    state.outcome = typeof seat === 'string' ? seat : 'runs'
    if (typeof seat !== 'string') state.release = seat
  }
  if (seat instanceof Promise) void seat.then(settled)
  else settled(seat)
  return state
}

describe('FairQueue', () => {
  it('runs as many of a client as it has seats, lets some wait and refuses the rest', () => {
    const { fair } = queue()
    const outcomes = Array.from({ length: 5 }, () => entered(fair.enter(node('a'))).outcome)
    assert.deepEqual(outcomes, ['runs', 'runs', 'waits', 'waits', 'queue-full'])
  })

  it('has a waiting request run when one before it ends, in their order', async () => {
    const { fair } = queue()
    const [first, , third, fourth] = Array.from({ length: 4 }, () => entered(fair.enter(node('a'))))
    first?.release()
    first?.release()
    await settle()
    assert.deepEqual([third?.outcome, fourth?.outcome], ['runs', 'waits'])
  })

  it('gives turns round the clients, whoever asked most', async () => {
    const { fair } = queue({ running: 1 })
    const running = entered(fair.enter(node('greedy')))
    const order: string[] = []
    const ask = (name: string) =>
      Promise.resolve(fair.enter(node(name))).then(seat => {
        order.push(name)
        if (typeof seat !== 'string') seat()
      })
    const all = ['greedy', 'greedy', 'modest', 'shy'].map(ask)
    running.release()
    await Promise.all(all)
    assert.deepEqual(order, ['greedy', 'modest', 'shy', 'greedy'])
  })

  it('does not count the control plane against the others, nor the others against it', () => {
    const { fair } = queue()
    for (const name of ['a', 'b']) for (let i = 0; i < 4; i++) entered(fair.enter(node(name)))
    assert.equal(entered(fair.enter(node('c'))).outcome, 'waits')
    assert.equal(entered(fair.enter(controllers)).outcome, 'runs')
  })

  it('refuses who waited too long, and leaves no timer behind', async () => {
    const { fair, clock } = queue()
    const seats = Array.from({ length: 3 }, () => entered(fair.enter(node('a'))))
    await clock.advance(defaultFairness.waitSeconds * 1000)
    assert.equal(seats[2]?.outcome, 'time-out')
    assert.equal(clock.pending(), 0)
  })

  it('forgets a waiting request whose client has left', async () => {
    const { fair, clock } = queue()
    const gone = new AbortController()
    const seats = Array.from({ length: 3 }, () => entered(fair.enter(node('a'), gone.signal)))
    gone.abort()
    await settle()
    assert.deepEqual([seats[2]?.outcome, clock.pending()], ['cancelled', 0])
    seats[0]?.release()
    assert.equal(entered(fair.enter(node('a'))).outcome, 'runs')
  })

  it('counts watches apart from requests', () => {
    const { fair } = queue()
    const watches = Array.from({ length: 3 }, () => entered(fair.enterWatch(node('a'))))
    assert.deepEqual(
      watches.map(({ outcome }) => outcome),
      ['runs', 'runs', 'concurrency-limit'],
    )
    assert.equal(entered(fair.enter(node('a'))).outcome, 'runs')
    watches[0]?.release()
    assert.equal(entered(fair.enterWatch(node('a'))).outcome, 'runs')
  })

  it('slows a node down that asks faster than any kubelet, and nobody else', async () => {
    const { fair, clock } = queue()
    const answered = (name: string) => {
      const seat = entered(fair.enter(node(name)))
      seat.release()
      return seat.outcome
    }
    const outcomes = Array.from({ length: 10 }, () => answered('a'))
    assert.equal(outcomes.filter(outcome => outcome === 'runs').length, 8)
    assert.equal(answered('b'), 'runs')
    await clock.advance(100)
    assert.deepEqual([answered('a'), answered('a')], ['runs', 'rate-limit'])
  })

  it('remembers nobody who is idle and rested', async () => {
    const { fair, clock } = queue()
    for (let i = 0; i < 50; i++) entered(fair.enter({ level: 'other', name: `user-${i}` })).release()
    assert.equal(fair.size, 0)
    entered(fair.enter(node('a'))).release()
    await clock.advance(1000)
    entered(fair.enter(node('a'))).release()
    assert.equal(fair.size, 1)
  })

  it('is bounded whatever comes and goes, and serves everybody in the end', async () => {
    const step = fc.record({ name: fc.constantFrom('a', 'b', 'c'), leave: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
        const { fair, clock } = queue({ running: 2 })
        const seats: ReturnType<typeof entered>[] = []
        const running = () => seats.filter(seat => seat.outcome === 'runs')
        const leave = (seat: ReturnType<typeof entered>) => {
          seats.splice(seats.indexOf(seat), 1)
          seat.release()
        }
        for (const { name, leave: wanted } of steps) {
          const [first] = running()
          if (wanted && first) leave(first)
          else seats.push(entered(fair.enter(node(name))))
          await settle()
          assert.ok(running().length <= 2)
        }
        for (let [first] = running(); first; [first] = running()) {
          leave(first)
          await settle()
        }
        assert.equal(seats.filter(seat => seat.outcome === 'waits').length, 0)
        assert.equal(clock.pending(), 0)
      }),
      { numRuns: 50 },
    )
  })
})
