import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeOrders, encodeOrders, type NodeOrders, probedAuthority, probeName } from './node-orders.ts'

const orders: NodeOrders = {
  token: 3,
  sequence: 17,
  orders: [
    { kind: 'load-bundle', generation: 4 },
    { kind: 'probe', authority: 2, attempt: 9 },
    { kind: 'probe-refusal', authority: 1, attempt: 9 },
    { kind: 'renew', issuer: 'a0b1', notBefore: 1_700_000_000_000 },
    { kind: 'restart-kubelet', notBefore: 5 },
  ],
}

test('orders are read as they were written, and nothing else is an order', () => {
  assert.deepEqual(decodeOrders(encodeOrders(orders)), orders)
  for (const text of ['', 'load-bundle 3', 'fence 1 2\nrun rm', 'fence 1 2\nload-bundle 3 4', 'fence 1 x'])
    assert.equal(decodeOrders(text), undefined, text)
  assert.equal(probedAuthority(probeName(12)), 12)
  assert.equal(probedAuthority('kubernetes'), undefined)
})
