import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../kube/json.ts'
import { applyStrategicMergePatch } from '../kube/patch/strategic-merge.ts'
import type { KubeNode } from '../kube/types.ts'
import { missingLabels, type NodeFacts, newNode, statusPatch } from './node-object.ts'

const now = Date.parse('2026-05-01T12:00:00Z')
const facts: NodeFacts = {
  nodeName: 'node-a',
  addresses: [
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'InternalIP', address: '2001:db8::1' },
    { type: 'Hostname', address: 'node-a' },
  ],
  port: 10_250,
  nodeInfo: { architecture: 'arm64', kubeletVersion: 'v1.36.1' },
}

/** The Node after the patch, as Kubernetes applies it. */
function patched(node: KubeNode, patch: object): KubeNode {
  const document = JSON.parse(JSON.stringify(node)) as JsonObject
  return applyStrategicMergePatch(document, patch, 'Node') as unknown as KubeNode
}

test('a new Node is ready, and shows the name, architecture, addresses and port', () => {
  const node = newNode(facts, now)
  assert.equal(node.metadata.labels?.['kubernetes.io/arch'], 'arm64')
  assert.equal(node.status?.nodeInfo?.kubeletVersion, 'v1.36.1')
  assert.deepEqual(
    node.status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
    [
      'MemoryPressure False KubeletHasSufficientMemory',
      'DiskPressure False KubeletHasNoDiskPressure',
      'PIDPressure False KubeletHasSufficientPID',
      'Ready True KubeletReady',
    ],
  )
  assert.deepEqual(node.status?.daemonEndpoints, { kubeletEndpoint: { Port: 10_250 } })
})

test('a Node that says all of it needs no patch, until a report is due', () => {
  const node = newNode(facts, now)
  assert.equal(statusPatch(node, facts, now + 60_000, false), undefined)
  const patch = statusPatch(node, facts, now + 60_000, true)
  assert.ok(patch)
  const ready = patched(node, patch).status?.conditions?.find(({ type }) => type === 'Ready')
  assert.equal(ready?.lastHeartbeatTime, '2026-05-01T12:01:00Z')
  assert.equal(ready?.lastTransitionTime, '2026-05-01T12:00:00Z')
})

test('conditions of others stay, and those that others changed come back with a new transition time', () => {
  const node = newNode(facts, now)
  const conditions = node.status?.conditions?.map(condition =>
    condition.type === 'Ready'
      ? { ...condition, status: 'Unknown' as const, reason: 'NodeStatusUnknown' }
      : condition,
  )
  const other = { type: 'NetworkUnavailable', status: 'False' as const, reason: 'RouteCreated' }
  const marked = { ...node, status: { ...node.status, conditions: [...(conditions ?? []), other] } }
  const patch = statusPatch(marked, facts, now + 60_000, false)
  assert.ok(patch)
  const after = patched(marked, patch)
  assert.ok(after.status?.conditions?.some(({ type }) => type === 'NetworkUnavailable'))
  const ready = after.status?.conditions?.find(({ type }) => type === 'Ready')
  assert.deepEqual([ready?.status, ready?.lastTransitionTime], ['True', '2026-05-01T12:01:00Z'])
  assert.equal(statusPatch(after, facts, now + 120_000, false), undefined)
})

test('W-3: addresses are replaced as a list, so an old one does not stay and two of one type do', () => {
  const node = newNode({ ...facts, addresses: [{ type: 'ExternalIP', address: '203.0.113.1' }] }, now)
  const patch = statusPatch(node, facts, now, false)
  assert.ok(patch)
  assert.deepEqual(patched(node, patch).status?.addresses, facts.addresses)
})

test('a port that is not known yet does not erase the one published', () => {
  const { port: _, ...unknown } = facts
  assert.equal(statusPatch(newNode(facts, now), unknown, now, false), undefined)
})

test('only labels that are missing or wrong are given', () => {
  const node = newNode(facts, now)
  assert.equal(missingLabels(node, facts), undefined)
  const relabelled = {
    ...node,
    metadata: { name: 'node-a', labels: { 'kubernetes.io/os': 'plan9', mine: 'x' } },
  }
  assert.deepEqual(missingLabels(relabelled, { ...facts, labels: { mine: 'x' } }), {
    'kubernetes.io/hostname': 'node-a',
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'arm64',
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': 'arm64',
  })
})
