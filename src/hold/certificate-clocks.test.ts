import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { at, denied, hour, minute, node, second, start } from './testing/managed-certificate.ts'

test('report 10: a forward jump of the wall clock is noticed within a minute', async () => {
  const { manager, ask, asks, clock } = await node()
  await ask().issue(24 * hour)
  clock.step(23 * hour)
  await clock.advance(minute)
  assert.deepEqual([asks.length, ask().cause], [2, 'renewal'])
  clock.step(5 * hour)
  await clock.advance(minute)
  assert.deepEqual([asks.length, ask().cause], [3, 'expired'])
  manager.stop()
})

test('report 15: a backward jump makes no loop: a certificate that is not valid yet is kept and not replaced', async () => {
  const { manager, ask, asks, clock } = await node()
  await ask().issue(24 * hour)
  clock.step(-1000 * hour)
  await clock.advance(hour)
  assert.equal(manager.status().state, 'NotYetValid')
  assert.ok(manager.current(), 'the server judges by its own clock')
  assert.equal(asks.length, 1)
  clock.step(1000 * hour)
  await clock.advance(minute)
  assert.deepEqual([manager.status().state, asks.length], ['Valid', 1])
  manager.stop()
})

test('a renewal that is almost over is no progress: the one held stays, and is asked for again before it lapses', async () => {
  const { manager, ask, asks, clock } = await node()
  await ask().issue(hour)
  await clock.advance((manager.status().deadline ?? 0) - start)
  const { serial, notAfter = 0 } = manager.status()
  // The signer's clock went back by almost a lifetime.
  const slow = 3 * minute
  while (clock.now() < notAfter - slow) {
    assert.equal(ask().cause, 'renewal')
    await ask().issue(slow, { backdate: hour })
    assert.equal(manager.status().serial, serial)
    assert.match(manager.status().lastError ?? '', /before the one that it is to replace.*set the clock/)
    const before = asks.length
    await clock.advance(298 * second)
    assert.ok(asks.length <= before + 1)
    if (asks.length === before) await clock.advance(4 * second)
  }
  assert.equal(manager.status().state, 'Valid')
  await ask().issue(slow, { backdate: hour })
  assert.notEqual(manager.status().serial, serial, 'now it lasts longer than the one held')
  manager.stop()
})

test('a lifetime that the operator shortened is taken at once, though the certificate held would last longer', async () => {
  const { manager, ask, clock } = await node()
  await ask().issue(8760 * hour)
  await clock.advance((manager.status().deadline ?? 0) - start)
  const before = manager.status().serial
  await ask().issue(24 * hour)
  assert.notEqual(manager.status().serial, before)
  assert.equal(manager.status().lastError, undefined)
  manager.stop()
})

test('report 13: a serving certificate of a fast signer is replaced when the clock is set, and not by others that begin late', async () => {
  const { manager, ask, asks, clock } = await node({ signsWithHeld: false })
  const ahead = 3 * hour
  await ask().issue(ahead + hour, { backdate: 5 * minute - ahead })
  assert.equal(manager.status().state, 'NotYetValid')
  assert.match(manager.status().lastError ?? '', /begins only at .*set the clock/)
  const { serial } = manager.status()
  const gaps: number[] = []
  for (let count = 1; count <= 5; count++) {
    const before = clock.monotonic()
    while (asks.length === count) await clock.advance(30 * second)
    gaps.push(Math.round((ask().at - before) / minute))
    assert.equal(ask().cause, 'premature')
    if (count < 5) await ask().issue(ahead + hour, { backdate: 5 * minute - ahead })
    assert.equal(manager.status().serial, serial)
  }
  assert.deepEqual(gaps, [5, 10, 20, 30, 30])
  await ask().issue(hour)
  assert.equal(manager.status().state, 'Valid')
  assert.equal(manager.status().lastError, undefined)
  await clock.advance(10 * minute)
  assert.equal(asks.length, 6)
  manager.stop()
})

test('report 12: a serving certificate that begins within five minutes is waited for', async () => {
  const { manager, ask, asks, clock } = await node({ signsWithHeld: false })
  await ask().issue(hour, { backdate: -4 * minute })
  await clock.advance(10 * minute)
  assert.deepEqual([manager.status().state, asks.length], ['Valid', 1])
  manager.stop()
})

test('while there is nobody to ask as, nothing is asked for; then at once, but for a clock that is not set', async () => {
  const { manager, ask, asks, clock } = await node({ signsWithHeld: false })
  await ask().fail(denied())
  manager.setAble(false)
  await clock.advance(hour)
  assert.equal(asks.length, 1)
  manager.setAble(true)
  assert.equal(asks.length, 2)
  await ask().issue(-hour)
  manager.setAble(false)
  manager.setAble(true)
  await clock.advance(299 * second)
  assert.equal(asks.length, 2)
  await clock.advance(2 * second)
  assert.equal(asks.length, 3)
  manager.stop()
})

test('a backoff is not lengthened by a backward jump', async () => {
  const { manager, ask, asks, clock } = await node()
  await ask().fail(denied())
  clock.step(-1000 * hour)
  await clock.advance(2200)
  assert.equal(asks.length, 2)
  manager.stop()
})

test('a certificate that has lapsed by our clock on arrival is a failure, asked for again every five minutes', async () => {
  const { manager, ask, asks, clock } = await node()
  for (let count = 1; count <= 3; count++) {
    await ask().issue(-hour)
    assert.match(manager.status().lastError ?? '', /set the clock/)
    await clock.advance(299 * second)
    assert.equal(asks.length, count)
    await clock.advance(2 * second)
    assert.equal(asks.length, count + 1)
  }
  manager.stop()
})

test('K-33: a certificate that is almost over on arrival is used and renewed late in what is left, and the clock doubted', async () => {
  const { manager, ask, asks, clock } = await node()
  for (let count = 1; count < 5; count++) {
    await ask().issue(3 * minute, { backdate: hour })
    assert.equal(manager.status().state, 'Valid')
    assert.match(manager.status().lastError ?? '', /set the clock/)
    await clock.advance(125 * second)
    assert.equal(asks.length, count)
    await clock.advance(37 * second)
    assert.deepEqual([asks.length, ask().cause], [count + 1, 'renewal'])
  }
  manager.stop()
})

test('whatever happens, at most one timer is pending and attempts start at least a second apart', async () => {
  const event = fc.oneof(
    fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 40 * hour }) }),
    fc.record({ do: fc.constant('jump' as const), ms: fc.integer({ min: -100 * hour, max: 100 * hour }) }),
    fc.record({ do: fc.constant('issue' as const), ms: fc.integer({ min: -hour, max: 48 * hour }) }),
    fc.record({ do: fc.constant('fail' as const) }),
    fc.record({ do: fc.constant('reject' as const) }),
    fc.record({ do: fc.constant('retry' as const) }),
    fc.record({ do: fc.constant('template' as const), ip: fc.integer({ min: 1, max: 3 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 25 }), fc.boolean(), async (events, renew) => {
      const { manager, asks, clock } = await node({ renew, longestSleep: hour })
      for (const happening of events) {
        const ask = asks.at(-1)
        if (happening.do === 'wait') await clock.advance(happening.ms)
        else if (happening.do === 'jump') clock.step(happening.ms)
        else if (happening.do === 'issue') await ask?.issue(happening.ms)
        else if (happening.do === 'fail') await ask?.fail(denied())
        else if (happening.do === 'reject') manager.reportRejected(manager.status().serial ?? '')
        else if (happening.do === 'retry') manager.retryNow()
        else manager.setTemplate(at(`10.0.0.${happening.ip}`))
        assert.ok(clock.pending() <= 1, `${clock.pending()} timers`)
        const open = asks.filter(ask => !ask.settled && !ask.signal.aborted)
        assert.ok(open.length <= 1, `${open.length} attempts under way`)
      }
      const starts = asks.map(ask => ask.at)
      for (const [index, time] of starts.slice(1).entries()) assert.ok(time - (starts[index] ?? 0) >= second)
      // And it comes back: given time and a signer that signs, there is a valid certificate again.
      for (let round = 0; round < 3; round++) {
        await clock.advance(hour)
        await asks.at(-1)?.issue(48 * hour)
      }
      assert.ok(manager.current(), manager.status().lastError)
      manager.stop()
      assert.equal(clock.pending(), 0)
    }),
    { numRuns: 60 },
  )
})
