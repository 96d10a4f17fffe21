import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, denied, hour, minute, node, second, start } from './testing/managed-certificate.ts'

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
