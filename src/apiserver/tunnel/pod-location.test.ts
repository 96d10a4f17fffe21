import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../kube/types.ts'
import type { ObjectReader } from '../reader.ts'
import { ApiError } from '../wire/api-error.ts'
import { defaultAddressTypes, kubeadmAddressTypes, kubeletAddress } from './kubelet-address.ts'
import { execLocation, logLocation, portForwardLocation } from './pod-location.ts'

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  status: {
    addresses: [
      { type: 'ExternalIP' as const, address: '203.0.113.7' },
      { type: 'InternalIP' as const, address: 'fd00::7' },
      { type: 'Hostname' as const, address: 'n.example' },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 12_345 } },
  },
}
const pod = (name: string, containers: string[], nodeName = 'n', initContainers: string[] = []) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'ns' },
  spec: {
    nodeName,
    containers: containers.map(name => ({ name })),
    initContainers: initContainers.map(name => ({ name })),
  },
})
const objects: Record<string, KubeObject> = {
  'nodes/n': node,
  'pods/one': pod('one', ['c']),
  'pods/two': pod('two', ['c', 'd'], 'n', ['i']),
  'pods/waiting': pod('waiting', ['c'], ''),
  'pods/lost': pod('lost', ['c'], 'gone'),
}
const reader: ObjectReader = {
  get: <T extends KubeObject>({ plural }: { plural: string }, name: string) =>
    objects[`${plural}/${name}`] as T | undefined,
  list: () => [],
  generation: () => 0,
}

const request = (name: string, query = '') => ({ namespace: 'ns', name, query: new URLSearchParams(query) })
const logs = (name: string, query = '') =>
  logLocation(reader, request(name, query), defaultAddressTypes)?.path

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof ApiError) return `${error.status.code} ${error.message}`
    throw error
  }
  return 'not refused'
}

test('H-4: address types in the order of kube-apiserver, or kubeadm’s; the port of daemonEndpoints, else 10250', () => {
  assert.deepEqual(kubeletAddress(node, defaultAddressTypes), { node: 'n', host: 'n.example', port: 12_345 })
  assert.deepEqual(kubeletAddress(node, kubeadmAddressTypes), { node: 'n', host: 'fd00::7', port: 12_345 })
  const { addresses } = node.status
  const plain = { ...node, status: { addresses: addresses.slice(0, 1) } }
  assert.deepEqual(kubeletAddress(plain, defaultAddressTypes), {
    node: 'n',
    host: '203.0.113.7',
    port: 10_250,
  })
  assert.equal(
    kubeletAddress({ ...node, status: {} }, defaultAddressTypes),
    'no preferred addresses found; known addresses: []',
  )
})

test('the log of the only container, or of the one that is named', () => {
  assert.equal(logs('one'), '/containerLogs/ns/one/c')
  assert.equal(logs('two', 'container=i'), '/containerLogs/ns/two/i')
  assert.equal(logs('waiting'), undefined)
  assert.equal(
    refusal(() => logs('two')),
    '400 a container name must be specified for pod two, choose one of: [c d] or one of the init containers: [i]',
  )
  for (const container of ['x', '../../exec', 'c%2f..'])
    assert.equal(
      refusal(() => logs('two', new URLSearchParams({ container }).toString())),
      `400 container ${container} is not valid for pod two`,
    )
  assert.equal(
    refusal(() => logs('..')),
    '404 pods ".." not found',
  )
  assert.equal(
    refusal(() => logs('lost')),
    '404 nodes "gone" not found',
  )
})

test('options of logs are those of kube-apiserver, and refused in its words', () => {
  assert.equal(
    logs(
      'one',
      'follow=true&tailLines=5&previous=false&timestamps=1&limitBytes=7&sinceTime=2026-01-01T00:00:00Z&pretty=true',
    ),
    '/containerLogs/ns/one/c?follow=true&limitBytes=7&sinceTime=2026-01-01T00%3A00%3A00Z&tailLines=5&timestamps=true',
  )
  assert.equal(
    refusal(() => logs('one', 'tailLines=-1&limitBytes=0')),
    '422 PodLogOptions "one" is invalid: [tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: Invalid value: 0: must be greater than 0]',
  )
  assert.match(
    refusal(() => logs('one', 'tailLines=many')),
    /^400 /,
  )
})

test('exec names what is wanted as the kubelet reads it, each word of the command apart', () => {
  const exec = (query: string) =>
    execLocation(reader, 'exec', request('one', query), defaultAddressTypes).path
  assert.equal(
    exec('command=sh&command=-c&command=a%26b%3Dc&stdin=true&stdout=true&stderr=true&tty=false'),
    '/exec/ns/one/c?command=sh&command=-c&command=a%26b%3Dc&error=1&input=1&output=1',
  )
  assert.equal(
    refusal(() => execLocation(reader, 'exec', request('waiting'), defaultAddressTypes)),
    '400 pod waiting does not have a host assigned',
  )
  assert.equal(
    portForwardLocation(reader, request('one', 'ports=80,81&ports=82'), defaultAddressTypes).path,
    '/portForward/ns/one?port=80&port=81&port=82',
  )
})
