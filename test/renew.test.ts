import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientOf } from '../src/cluster/demo/running-up.ts'
import { type KubeNode, resources } from '../src/kube/types.ts'
import { heldPairs } from './support/data-folder.ts'
import { eventually } from './support/eventually.ts'
import { runRollcall } from './support/rollcall-process.ts'
import { upDuringTests } from './support/running-up.ts'

const up = upDuringTests()
const kubeconfig = up.admin

const renew = (...words: string[]) => runRollcall(['renew', ...words, '--kubeconfig', kubeconfig])
/** Pairs by node and kind; undefined while an agent is just putting one in place. */
function look(): Map<string, string> | undefined {
  try {
    return new Map(heldPairs(up.path).map(pair => [`${pair.node} ${pair.kind}`, pair.pem]))
  } catch {
    return undefined
  }
}
const held = () => eventually('every node holds both pairs', look)

/** An agent puts in place what was issued a moment later than the command hears of it. */
const changed = (before: Map<string, string>, count: number) =>
  eventually(`${count} pairs are new`, () => {
    const now = [...(look() ?? [])].filter(([pair, pem]) => before.get(pair) !== pem)
    return now.length >= count && now.map(([pair]) => pair).sort()
  })

test('every node renews both certificates, a wave after the other', async () => {
  const before = await held()
  const { code, stdout, stderr } = await renew('--all', '--wave', '2', '--pause', '0s')
  assert.equal(code, 0, stdout + stderr)
  assert.match(
    stdout,
    /^wave 1\/2 {2}2\/3 nodes renewed {2}worker-1 worker-2\nwave 2\/2 {2}3\/3 nodes renewed {2}worker-3\n$/,
  )
  assert.equal((await changed(before, 6)).length, 6)
})

test('one kind of one node is renewed, and no other', async () => {
  const before = await held()
  const { code, stdout, stderr } = await renew('worker-2', '--kind', 'client')
  assert.equal(code, 0, stdout + stderr)
  assert.deepEqual(await changed(before, 1), ['worker-2 kubelet-client'])
})

test('it stops at the first wave that does not come back, and says who and how many were not asked', async () => {
  const { client, transport } = await clientOf(kubeconfig)
  try {
    const ghost: KubeNode = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a-ghost' } }
    await client.create(resources.nodes, ghost)
    const before = await held()
    const { code, stderr } = await renew('--all', '--wave', '25%', '--pause', '0s', '--timeout', '2s')
    assert.equal(code, 1)
    assert.match(stderr, /wave 1 of 4 did not come back in 2s: a-ghost is Unknown\. 3 nodes were not asked\./)
    assert.deepEqual(await held(), before)
  } finally {
    await client.delete(resources.nodes, { name: 'a-ghost' })
    transport.closeConnections()
  }
})

test('without nodes, or with two ways to name them, nothing is asked', async () => {
  for (const words of [[], ['--all', 'worker-1'], ['nobody'], ['--all', '--wave', 'some']])
    assert.equal((await renew(...words)).code, 2, words.join(' '))
})
