import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kubeletHash } from './container-hash.ts'

test('the hash is the one that a kubelet 1.36 computed', () => {
  assert.equal(kubeletHash({ name: 'c', image: 'localhost/exp/busybox:1' }), 'ad98e955')
  assert.equal(kubeletHash({ name: 'plug', image: 'localhost/exp/plug:1' }), '63bb661b')
})
