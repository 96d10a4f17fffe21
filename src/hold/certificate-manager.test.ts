import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RollcallError } from '../errors.ts'
import { asynchronousDisk, MachineDisk } from '../fleet/simulated/disk.ts'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { type CertificateTemplate, clientTemplate, servingTemplate } from '../join/template.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { createTestAuthority } from '../testing/test-authority.ts'
import { CertificateManager, type RequestOrder } from './certificate-manager.ts'
import { createCertificateStore } from './certificate-store.ts'
import type { HoldRules } from './next-step.ts'

const start = Date.parse('2026-05-01T00:00:00Z')
const [second, minute, hour] = [1000, 60_000, 3_600_000]
const client = clientTemplate('node-a', 'Ed25519')
const denied = () => new RollcallError('CSR_DENIED', 'CertificateSigningRequest "csr-x" was denied: no')

interface Ask extends RequestOrder {
  at: number
  settled: boolean
  /** Hands out a certificate that began `backdate` ms ago (5 minutes) and ends `lifetime` ms from now. */
  issue(lifetime: number, options?: { backdate?: number; template?: CertificateTemplate }): Promise<void>
  fail(error: unknown): Promise<void>
}

async function node(rules: Partial<HoldRules> = {}, template: CertificateTemplate | 'none' = client) {
  const clock = createManualClock(start)
  const random = new SeededRandom('manager')
  const authority = await createTestAuthority(random)
  const machineDisk = new MachineDisk(random.stream('disk'), clock)
  const disk = asynchronousDisk(machineDisk, async call => call())
  const log = recordingLog()
  const asks: Ask[] = []
  const request = (order: RequestOrder) =>
    new Promise<Awaited<ReturnType<typeof authority.issue>>>((resolve, reject) => {
      asks.push({
        ...order,
        at: clock.monotonic(),
        settled: false,
        async issue(lifetime, { backdate = 5 * minute, template: given = order.template } = {}) {
          this.settled = true
          const now = Math.floor(clock.now() / 1000) * 1000
          resolve(await authority.issue(given, { notBefore: now - backdate, notAfter: now + lifetime }))
          await clock.advance(0)
        },
        async fail(error) {
          this.settled = true
          reject(error)
          await clock.advance(0)
        },
      })
    })
  const make = () =>
    new CertificateManager({
      name: 'test',
      store: createCertificateStore({ disk, clock, log, directory: '/pki', prefix: 'test' }),
      clock,
      random,
      log,
      rules: { renew: true, signsWithHeld: true, longestSleep: minute, ...rules },
      ...(template !== 'none' && { template }),
      request,
    })
  const manager = make()
  await manager.start()
  /** The newest attempt. */
  const ask = () => {
    const last = asks.at(-1)
    assert.ok(last, 'nothing was asked for')
    return last
  }
  return { clock, machineDisk, disk, log, asks, ask, manager, make }
}

test('the first certificate is asked for at once and then held', async () => {
  const { manager, ask } = await node()
  assert.deepEqual(
    [manager.status().state, ask().cause, manager.current()],
    ['Pending', 'initial', undefined],
  )
  await ask().issue(24 * hour)
  assert.equal(manager.status().state, 'Valid')
  assert.equal(manager.current()?.leaf.notAfter, start + 24 * hour)
  manager.stop()
})

test('K-33: it is renewed at its deadline, once, and the new one is held', async () => {
  const { manager, ask, asks, clock } = await node()
  await ask().issue(24 * hour)
  const { deadline = 0 } = manager.status()
  assert.ok(deadline >= start + 16 * hour && deadline <= start + 22 * hour)
  await clock.advance(deadline - start - 1)
  assert.equal(asks.length, 1)
  await clock.advance(1)
  assert.deepEqual([asks.length, ask().cause], [2, 'renewal'])
  await ask().issue(24 * hour)
  await clock.advance(hour)
  assert.equal(asks.length, 2)
  manager.stop()
})

test('K-36: the gaps between immediate failures are those of the backoff', async () => {
  const { manager, ask, asks, clock } = await node()
  for (let attempt = 1; attempt <= 6; attempt++) {
    await ask().fail(denied())
    while (asks.length === attempt) await clock.advance(100)
  }
  const gaps = asks.slice(1).map((ask, index) => ask.at - (asks[index]?.at ?? 0))
  for (const [index, base] of [2000, 4000, 8000, 16_000, 32_000, 32_000].entries()) {
    const gap = gaps[index] ?? 0
    assert.ok(gap >= base && gap <= base * 1.1 + 100, `gap ${index} is ${gap}`)
  }
  manager.stop()
})

test('K-52, K-53, K-54: a lapse is answered at once with the bootstrap credential, in the same process, whatever the backoff', async () => {
  const { manager, ask, asks, clock } = await node()
  await ask().issue(24 * hour)
  await clock.advance((manager.status().deadline ?? 0) - start)
  assert.equal(ask().cause, 'renewal')
  const renewal = ask()
  await clock.advance(start + 24 * hour - clock.now())
  assert.equal(manager.status().state, 'Valid', 'K-31: at notAfter itself it is still valid')
  await clock.advance(1)
  assert.deepEqual([manager.status().state, manager.current()], ['Expired', undefined])
  assert.ok(renewal.signal.aborted, 'the attempt that the lapsed certificate signs is given up')
  assert.deepEqual([ask().cause, ask().at], ['expired', 24 * hour + 1])
  await ask().issue(24 * hour)
  assert.equal(manager.status().state, 'Valid')
  assert.equal(asks.length, 3)
  manager.stop()
})

test('K-3: without renewal the certificate is left until it lapsed, then replaced', async () => {
  const { manager, ask, asks, clock } = await node({ renew: false })
  await ask().issue(24 * hour)
  await clock.advance(24 * hour)
  assert.equal(asks.length, 1)
  await clock.advance(1)
  assert.equal(ask().cause, 'expired')
  manager.stop()
})

test('K-39: report 8: a 401 leads back to the bootstrap credential at once; new ones that are rejected too are replaced ever slower', async () => {
  const { manager, ask, asks, clock } = await node()
  const gaps: number[] = []
  for (let round = 0; round < 5; round++) {
    await ask().issue(24 * hour)
    await clock.advance(minute)
    const before = clock.monotonic()
    manager.reportRejected(manager.status().serial ?? '')
    assert.equal(manager.status().state, 'Rejected')
    assert.ok(manager.current(), 'it stays in use until there is another')
    await clock.advance(40 * second)
    assert.equal(ask().cause, 'rejected')
    gaps.push(ask().at - before)
  }
  assert.equal(gaps[0], 0)
  for (const [index, base] of [2000, 4000, 8000, 16_000].entries()) assert.ok((gaps[index + 1] ?? 0) >= base)
  assert.equal(asks.length, 6)

  await ask().issue(24 * hour)
  manager.reportAccepted(manager.status().serial ?? '')
  await clock.advance(minute)
  const before = clock.monotonic()
  manager.reportRejected(manager.status().serial ?? '')
  assert.equal(ask().at - before, 0, 'an accepted certificate forgets the earlier rejections')
  manager.stop()
})

test('a 401 that passes is forgotten: the certificate is valid again', async () => {
  const { manager, ask, asks, clock } = await node()
  await ask().issue(24 * hour)
  await clock.advance(minute)
  const { serial = '' } = manager.status()
  manager.reportRejected(serial)
  await ask().fail(denied())
  manager.reportAccepted(serial)
  await clock.advance(hour)
  assert.deepEqual([manager.status().state, asks.length], ['Valid', 2])
  manager.stop()
})

test('a 401 that speaks of an older certificate changes nothing', async () => {
  const { manager, ask, asks } = await node()
  await ask().issue(24 * hour)
  manager.reportRejected('4711')
  assert.deepEqual([manager.status().state, asks.length], ['Valid', 1])
  manager.stop()
})

test('K-4, K-30: report 5: a certificate that lapsed while the node was off is replaced at start', async () => {
  const { manager, ask, make, clock } = await node()
  await ask().issue(24 * hour)
  await clock.advance(second)
  manager.stop()
  clock.step(1000 * hour)
  const next = make()
  await next.start()
  assert.deepEqual([next.status().state, next.current(), ask().cause], ['Expired', undefined, 'expired'])
  next.stop()
  assert.equal(clock.pending(), 0)
})

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

const at = (...addresses: string[]): CertificateTemplate => {
  const list = addresses.map(address => ({ type: 'InternalIP', address }))
  const template = servingTemplate('node-a', list, 'Ed25519')
  assert.ok(template)
  return template
}

test('K-32: nothing is asked for while nothing is wanted', async () => {
  const { manager, asks, clock } = await node({ signsWithHeld: false }, 'none')
  await clock.advance(hour)
  assert.equal(asks.length, 0)
  manager.setTemplate(at('10.0.0.1'))
  assert.equal(asks.length, 1)
  manager.setTemplate(undefined)
  await asks[0]?.issue(hour)
  assert.equal(manager.status().state, 'Valid', 'the attempt under way went on')
  await clock.advance(10 * hour)
  assert.deepEqual([manager.status().state, asks.length], ['Expired', 1])
  manager.stop()
})

test('K-35: other addresses cancel the attempt under way and lead to a new one within a second', async () => {
  const { manager, ask, asks, clock } = await node({ signsWithHeld: false }, at('10.0.0.1'))
  const first = ask()
  manager.setTemplate(at('10.0.0.2'))
  assert.ok(first.signal.aborted)
  await clock.advance(second)
  assert.deepEqual([asks.length, ask().template.ipAddresses], [2, ['10.0.0.2']])
  await first.issue(24 * hour)
  assert.equal(manager.status().state, 'Pending', 'what the cancelled attempt gives is not used')
  await ask().issue(24 * hour)
  assert.equal(manager.status().state, 'Valid')

  manager.setTemplate(at('10.0.0.2', '10.0.0.3'))
  await clock.advance(second)
  assert.deepEqual([asks.length, ask().cause], [3, 'template'])
  assert.ok(manager.current(), 'the old one serves until the new one is there')
  await ask().issue(24 * hour)
  manager.setTemplate(at('10.0.0.3'))
  await clock.advance(hour)
  assert.equal(asks.length, 3, 'K-34: an address that was removed causes no request')
  manager.stop()
})

test('a template that flaps leads to at most one request a second', async () => {
  const { manager, asks, clock } = await node({ signsWithHeld: false }, at('10.0.0.1'))
  for (let flap = 0; flap < 100; flap++) {
    manager.setTemplate(at(`10.0.0.${flap % 7}`))
    await clock.advance(100)
  }
  assert.ok(asks.length >= 9 && asks.length <= 11, `${asks.length} requests in 10 s`)
  manager.stop()
})

test('a signer that leaves names out is asked again with a backoff, and what it gave is used meanwhile', async () => {
  const { manager, ask, asks, clock } = await node({ signsWithHeld: false }, at('10.0.0.1', '10.0.0.2'))
  await ask().issue(24 * hour, { template: at('10.0.0.1') })
  assert.equal(manager.status().state, 'Valid')
  assert.match(manager.status().lastError ?? '', /10\.0\.0\.2/)
  await clock.advance(1900)
  assert.equal(asks.length, 1)
  await clock.advance(400)
  assert.deepEqual([asks.length, ask().cause], [2, 'template'])
  await ask().issue(24 * hour, { template: at('10.0.0.1') })
  await clock.advance(3900)
  assert.equal(asks.length, 2)
  manager.stop()
})

test('a full disk does not cost the certificate: it is used from memory and written when there is room', async () => {
  const { manager, ask, asks, clock, machineDisk, make } = await node()
  machineDisk.faults.full = true
  await ask().issue(24 * hour)
  assert.equal(manager.status().state, 'Valid')
  assert.match(manager.status().lastError ?? '', /ENOSPC/)
  machineDisk.faults.full = false
  await clock.advance(32 * second)
  assert.equal(manager.status().lastError, undefined)
  manager.stop()
  const next = make()
  await next.start()
  assert.deepEqual([next.status().state, asks.length], ['Valid', 1])
  next.stop()
})

test('listeners hear of each certificate and of its lapse', async () => {
  const { manager, ask, clock } = await node()
  const heard: string[] = []
  const end = manager.onChange(() => heard.push(manager.status().state))
  await ask().issue(24 * hour)
  await clock.advance(25 * hour)
  assert.equal(heard[0], 'Valid')
  assert.equal(heard.at(-1), 'Expired')
  end()
  manager.stop()
  assert.equal(clock.pending(), 0)
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
