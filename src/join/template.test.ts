import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeAddress } from '../kube/types.ts'
import { clientTemplate, servingTemplate, subjectAltNamesOf, usagesFor } from './template.ts'

test('K-22: the client template names the node in the group system:nodes and has no SAN', () => {
  assert.deepEqual(clientTemplate('node-a', 'ECDSA-P256'), {
    commonName: 'system:node:node-a',
    organizations: ['system:nodes'],
    dnsNames: [],
    ipAddresses: [],
    usages: ['digital signature', 'client auth'],
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  })
})

test('K-37: only an RSA key is to be used for key encipherment, as the second usage', () => {
  assert.deepEqual(usagesFor('server auth', 'RSA-2048'), [
    'digital signature',
    'key encipherment',
    'server auth',
  ])
  assert.deepEqual(usagesFor('server auth', 'Ed25519'), ['digital signature', 'server auth'])
})

const mappings: { title: string; addresses: NodeAddress[]; dns: string[]; ip: string[] }[] = [
  {
    title: 'a host name is a DNS name',
    addresses: [{ type: 'Hostname', address: 'node-a' }],
    dns: ['node-a'],
    ip: [],
  },
  {
    title: 'a host name that is an IP address is an IP address',
    addresses: [{ type: 'Hostname', address: '192.0.2.1' }],
    dns: [],
    ip: ['192.0.2.1'],
  },
  {
    title: 'an internal or external IP that does not parse is ignored',
    addresses: [
      { type: 'InternalIP', address: 'node-a' },
      { type: 'ExternalIP', address: '300.0.0.1' },
      { type: 'ExternalIP', address: '2001:DB8::1' },
    ],
    dns: [],
    ip: ['2001:db8::1'],
  },
  {
    title: 'internal and external DNS names are taken as they are',
    addresses: [
      { type: 'ExternalDNS', address: 'b.example' },
      { type: 'InternalDNS', address: 'a.example' },
    ],
    dns: ['a.example', 'b.example'],
    ip: [],
  },
  {
    title: 'empty addresses and unknown types are ignored',
    addresses: [
      { type: 'Hostname', address: '' },
      { type: 'Nickname', address: 'joe' },
    ],
    dns: [],
    ip: [],
  },
  {
    title: 'duplicates are removed and both lists are sorted as strings',
    addresses: [
      { type: 'InternalIP', address: '10.0.0.9' },
      { type: 'ExternalIP', address: '10.0.0.10' },
      { type: 'InternalIP', address: '10.0.0.9' },
      { type: 'Hostname', address: 'n' },
      { type: 'InternalDNS', address: 'n' },
    ],
    dns: ['n'],
    ip: ['10.0.0.10', '10.0.0.9'],
  },
  {
    title: 'leading zeros of an IPv4 address are dropped',
    addresses: [
      { type: 'InternalIP', address: '010.000.0.01' },
      { type: 'InternalIP', address: '::ffff:192.000.2.07' },
    ],
    dns: [],
    ip: ['10.0.0.1', '192.0.2.7'],
  },
]
for (const { title, addresses, dns, ip } of mappings) {
  test(`K-73: ${title}`, () => {
    assert.deepEqual(subjectAltNamesOf(addresses), { dnsNames: dns, ipAddresses: ip })
  })
}

test('K-74: addresses without an IP address give no serving template', () => {
  assert.equal(servingTemplate('n', [{ type: 'Hostname', address: 'n' }], 'ECDSA-P256'), undefined)
})
