import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeRenewal, isSince, renewalAnnotation, renewalOrder } from '../hold/renewal-order.ts'
import type { KubeNode } from '../kube/types.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { OrderedRenewals } from './ordered-renewals.ts'

const now = Date.UTC(2026, 2, 1, 12)
const nodeWith = (annotations: Record<string, string>): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'a', annotations },
})
const client = renewalAnnotation('client')

test('an order is obeyed once, for its kind alone; a later one again', () => {
  const obeyed: string[] = []
  const renewals = new OrderedRenewals(createManualClock(now), (kind, since) =>
    obeyed.push(`${kind} ${since - now}`),
  )
  renewals.seen(undefined)
  for (const at of [now, now, now + 1000]) renewals.seen(nodeWith({ [client]: encodeRenewal(at) }))
  assert.deepEqual(obeyed, ['client 0', 'client 1000'])
})

test('what is no order, and one from a clock that is far ahead, is not obeyed', () => {
  const renewals = new OrderedRenewals(createManualClock(now), () => assert.fail('it was obeyed'))
  for (const text of ['', 'now', '2026-03-01', encodeRenewal(now + 3_600_000)])
    renewals.seen(nodeWith({ [client]: text }))
  assert.equal(renewalOrder({ [client]: encodeRenewal(now) }, 'serving'), undefined)
})

test('a certificate of before the order is not since it, although it was dated back', () => {
  const dated = (issued: number) => issued - 300_000
  assert.equal(isSince(dated(now + 1000), now), true)
  assert.equal(isSince(dated(now - 1000), now), false)
})
