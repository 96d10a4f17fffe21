import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeConsumers } from './node-consumers.ts'
import type { ReportedTrust } from './trust-report.ts'

const now = Date.parse('2026-06-01T00:00:00Z')
const digest = 'ab'.repeat(32)
const digests = new Map([[7, digest]])
const instance = { bootID: 'boot-1', pid: 812, startTicks: 4711 }
const role = 'apiserver-serving'
const common = { role, generation: 7, digest, instance, loadedAt: now } as const
const report: ReportedTrust[] = [
  { ...common, subject: 'agent', evidence: 'memory' },
  { ...common, subject: 'kubelet', evidence: 'newer-process', seenAt: now + 1000 },
]
const node = { name: 'node-1', renewed: now, bootID: 'boot-1', report, handshakes: [] }

const proofsOf = (facts: Parameters<typeof nodeConsumers>[0], known = digests) =>
  nodeConsumers(facts, role, known).map(({ id, proof }) => [id, proof?.level, proof?.authorities])

test('a report proves loading, a handshake of the agent after it proves trust, and only of the agent', () => {
  assert.deepEqual(proofsOf(node), [
    ['kubelet/node-1', 2, undefined],
    ['agent/node-1', 2, undefined],
  ])
  const shaken = { ...node, handshakes: [{ authority: 2, at: now + 5 }] }
  assert.deepEqual(proofsOf(shaken), [
    ['kubelet/node-1', 2, undefined],
    ['agent/node-1', 3, [2]],
  ])
  const earlier = { ...node, handshakes: [{ authority: 2, at: now - 5 }] }
  assert.equal(proofsOf(earlier)[1]?.[1], 2, 'an earlier process made it')
})

test('a digest of no known bundle proves nothing', () => {
  assert.deepEqual(
    proofsOf(node, new Map([[7, 'cd'.repeat(32)]])).map(([, level]) => level),
    [0, 0],
  )
})

test('after a reboot the old report is of another instance', () => {
  const [kubelet] = nodeConsumers({ ...node, bootID: 'boot-2' }, role, digests)
  assert.equal(kubelet?.instance, 'boot-2/unknown')
  assert.equal(kubelet?.proof?.instance, 'boot-1/812/4711')
})

test('a node without an agent is one kubelet that takes no orders', () => {
  const { report: _, ...bare } = node
  const [kubelet, ...more] = nodeConsumers(bare, role, digests)
  assert.deepEqual(
    [kubelet?.id, kubelet?.orderable, kubelet?.proof, more.length],
    ['kubelet/node-1', false, undefined, 0],
  )
})
