import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeNode } from '../../kube/types.ts'
import { probeTargets } from './probe-targets.ts'

const node = (name: string, ...addresses: string[]): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status: { addresses: addresses.map(address => ({ type: 'InternalIP', address })) },
})
const hosts = (nodes: KubeNode[], loopback = false) =>
  probeTargets(nodes, loopback).map(({ node, host, port }) => `${node} ${host}:${port}`)

test('a node is looked at where nobody else claims to be, in whatever form it is written', () => {
  const nodes = [
    node('a', '2001:db8::1', '10.0.0.1'),
    node('b', '2001:DB8:0:0:0:0:0:1'),
    node('c', '10.0.0.3'),
  ]
  assert.deepEqual(hosts(nodes), ['a 10.0.0.1:10250', 'c 10.0.0.3:10250'])
})

test('an address that is no machine is not looked at, whoever claims it', () => {
  const odd = [
    '127.0.0.1',
    '::1',
    '169.254.169.254',
    'fe80::1',
    '0.0.0.0',
    '::',
    '224.0.0.1',
    'ff02::1',
    'nonsense',
  ]
  assert.deepEqual(hosts(odd.map((address, index) => node(`n${index}`, address))), [])
  assert.deepEqual(hosts([node('a', '127.0.1.1')], true), ['a 127.0.1.1:10250'])
})
