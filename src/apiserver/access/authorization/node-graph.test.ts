import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryReader } from '../testing/memory-reader.ts'
import { createNodeGraph, type NodeGraphKind } from './node-graph.ts'
import type { ReferringPod } from './pod-references.ts'

const pod = (name: string, spec: NonNullable<ReferringPod['spec']>, annotations = {}): ReferringPod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'ns', uid: name, annotations },
  spec,
})

const spec: NonNullable<ReferringPod['spec']> = {
  nodeName: 'a',
  serviceAccountName: 'sa',
  imagePullSecrets: [{ name: 'pull' }],
  volumes: [
    { secret: { secretName: 'volume' }, configMap: { name: 'map' } },
    { csi: { nodePublishSecretRef: { name: 'csi' } } },
    { rbd: { secretRef: { name: 'rbd' } } },
    { projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'root-ca' } }] } },
  ],
  containers: [
    {
      env: [
        { valueFrom: { secretKeyRef: { name: 'env' } } },
        { valueFrom: { configMapKeyRef: { name: 'env-map' } } },
      ],
      envFrom: [{ secretRef: { name: 'from' } }, { configMapRef: { name: 'from-map' } }],
    },
  ],
  initContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'init' } } }] }],
}

test('A-61: a node reads its own pods and every Secret and ConfigMap that they name', () => {
  const graph = createNodeGraph(memoryReader(pod('p', spec)))
  const reached: [NodeGraphKind, string][] = [
    ['pods', 'p'],
    ['serviceaccounts', 'sa'],
    ...['pull', 'volume', 'csi', 'rbd', 'projected', 'env', 'from', 'init'].map(
      (name): [NodeGraphKind, string] => ['secrets', name],
    ),
    ...['map', 'root-ca', 'env-map', 'from-map'].map((name): [NodeGraphKind, string] => ['configmaps', name]),
  ]
  for (const [kind, name] of reached) {
    assert.ok(graph.related('a', kind, 'ns', name), `${kind} ${name}`)
    assert.ok(!graph.related('b', kind, 'ns', name), `${kind} ${name} of another node`)
    assert.ok(!graph.related('a', kind, 'other', name), `${kind} ${name} of another namespace`)
  }
  assert.ok(!graph.related('a', 'secrets', 'ns', 'map'))
})

test('A-61: a mirror pod opens nothing but itself, and a pod without a node nothing at all', () => {
  const mirror = pod('m', spec, { 'kubernetes.io/config.mirror': 'hash' })
  const { nodeName: _node, ...unbound } = spec
  const graph = createNodeGraph(memoryReader(mirror, { ...pod('u', unbound) }))
  assert.ok(graph.related('a', 'pods', 'ns', 'm'))
  assert.ok(!graph.related('a', 'secrets', 'ns', 'volume'))
  assert.ok(!graph.related('', 'secrets', 'ns', 'volume'))
})

test('A-61: what a pod gave goes with it', () => {
  const reader = memoryReader(pod('p', spec))
  const graph = createNodeGraph(reader)
  assert.ok(graph.related('a', 'secrets', 'ns', 'pull'))
  reader.put(pod('p', { ...spec, imagePullSecrets: [] }))
  assert.ok(!graph.related('a', 'secrets', 'ns', 'pull'))
  assert.ok(graph.related('a', 'secrets', 'ns', 'volume'))
  reader.remove(pod('p', spec))
  assert.ok(!graph.related('a', 'secrets', 'ns', 'volume'))
  assert.ok(!graph.related('a', 'pods', 'ns', 'p'))
})

test('A-61: a resource slice belongs to the node that it names', () => {
  const slice = { apiVersion: 'v1', kind: 'ResourceSlice', metadata: { name: 's' }, spec: { nodeName: 'a' } }
  const graph = createNodeGraph(memoryReader(slice))
  assert.ok(graph.related('a', 'resourceslices', '', 's'))
  assert.ok(!graph.related('b', 'resourceslices', '', 's'))
})

test('A-61: bodies of any shape name nothing', () => {
  const odd = { nodeName: 'a', volumes: [null, 3, { secret: 'x', projected: [] }], containers: [{ env: {} }] }
  const graph = createNodeGraph(memoryReader(pod('p', odd as never)))
  assert.ok(!graph.related('a', 'secrets', 'ns', 'x'))
})
