import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidArgumentError } from 'commander'
import { hasCode } from '../errors.ts'
import { nodeAddresses, parseNodeName } from './node-name-and-addresses.ts'

test('report 42: a host name in upper case names a Node in lower case', () => {
  assert.equal(parseNodeName('WHIIPVR00291'), 'whiipvr00291')
  assert.equal(parseNodeName('Worker-1.Example.com\n'), 'worker-1.example.com')
})

test('report 43: no certificate is asked for with an empty name, or one that is no name', () => {
  for (const name of ['', ' ', 'a_b', 'a/b', '-a', 'a..b', 'a'.repeat(254), 'system:node:a'])
    assert.throws(() => parseNodeName(name), InvalidArgumentError, name)
})

test('K-76: each --node-ip is an InternalIP in its place, and the name is the Hostname', () => {
  assert.deepEqual(nodeAddresses('node-a', '192.0.2.2,fd00::1'), [
    { type: 'InternalIP', address: '192.0.2.2' },
    { type: 'InternalIP', address: 'fd00::1' },
    { type: 'Hostname', address: 'node-a' },
  ])
  assert.deepEqual(nodeAddresses('node-a', undefined), [{ type: 'Hostname', address: 'node-a' }])
  assert.throws(
    () => nodeAddresses('node-a', '192.0.2.x'),
    error => hasCode(error, 'USAGE'),
  )
})
