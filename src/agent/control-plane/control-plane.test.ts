import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { test } from 'node:test'
import { controlPlaneNode, testCa, testTrust } from './testing/control-plane-node.ts'
import { idOf } from './testing/kubeadm-files.ts'

const minute = 60_000
const ca = await testCa('kubernetes', 1)
const next = await testCa('rollcall-client-ca-2', 2, 11)
const trust = await testTrust({ client: [ca, next], 'apiserver-serving': [ca], 'kubelet-serving': [] })

test('kube-apiserver of a node judges clients by the bundle that it was ordered, and says so when it does', async () => {
  const node = await controlPlaneNode({ ca, trust })
  node.order('client', { sequence: 1, trust: 3 })
  await node.pass(5000)
  const { roles, healthy } = node.report()
  assert.deepEqual([roles.client?.state, roles.client?.trust, healthy], ['Settled', 3, true])
  assert.match(
    node.text('/etc/kubernetes/manifests/kube-apiserver.yaml'),
    /--client-ca-file=\/etc\/kubernetes\/pki\/rollcall\/client-ca.crt/,
  )
  assert.equal(node.text('/etc/kubernetes/pki/rollcall/client-ca.crt').split('BEGIN').length, 3)
  // What kubeadm made it by is as it was.
  assert.equal(node.text('/etc/kubernetes/pki/ca.crt'), ca.pem)
  await node.agent.stop()
})

test('kube-apiserver does not come back: all files are as before, and the next orders alone try again', async () => {
  const node = await controlPlaneNode({ ca, trust })
  const before = node.files()
  node.pods.comesUp = (component, manifest) =>
    component !== 'kube-apiserver' || !manifest.includes('rollcall')
  node.order('client', { sequence: 1, trust: 3 })
  await node.pass(7 * minute)
  const { roles } = node.report()
  assert.deepEqual([roles.client?.state, roles.client?.why], ['Undone', 'no kube-apiserver runs'])
  assert.deepEqual(node.files(), before)
  const starts = { ...node.pods.starts }
  await node.pass(10 * minute)
  assert.deepEqual(node.pods.starts, starts)
  node.pods.comesUp = () => true
  node.order('client', { sequence: 2, trust: 3 })
  await node.pass(5000)
  assert.equal(node.report().roles.client?.state, 'Settled')
  await node.agent.stop()
})

test('a bundle that is older than the one in force is not gone back to, under whatever fence', async () => {
  const node = await controlPlaneNode({ ca, trust })
  node.order('client', { sequence: 1, trust: 3 })
  await node.pass(5000)
  const before = node.files()
  node.order('client', { token: 9, sequence: 9, trust: 2 })
  await node.pass(5000)
  const { trust: held, why } = node.report().roles.client ?? {}
  assert.equal(held, 3)
  assert.match(why ?? '', /bundle 2 of client is older than the one in force/)
  assert.deepEqual(node.files(), before)
  await node.agent.stop()
})

test('a CA that no trust root has signed for is presented by nobody, signs nothing and is trusted by nobody', async () => {
  const thief = await testCa('rollcall-client-ca-3', 66)
  const node = await controlPlaneNode({ ca, trust })
  const before = node.files()
  node.order('client', { sequence: 1, trust: 3, sign: idOf(thief) })
  await node.pass(minute)
  const { roles } = node.report()
  assert.match(roles.client?.why ?? '', /is in no signed bundle 3 of client/)
  assert.deepEqual(node.files(), before)
  await node.agent.stop()
})

test('attack: a state folder that others can write is not believed: its journal says which files root writes', async () => {
  const node = await controlPlaneNode({ ca, trust })
  await node.agent.stop()
  node.machine.makeDirectory('/var/lib/others', 0o777)
  const forged = { facts: { from: {}, to: {}, old: {} }, direction: 'Doing' }
  const files = [{ path: '/etc/kubernetes/manifests/theirs.yaml', mode: 0o600, isNew: true }]
  const step = '/var/lib/others/state/step'
  node.machine.makeDirectory(step, 0o700)
  node.machine.write(`${step}/step.json`, JSON.stringify({ ...forged, files }), { mode: 0o600 })
  node.machine.write(`${step}/0.after`, 'kind: Pod', { mode: 0o600 })
  const before = node.files()
  node.restart('/var/lib/others/state')
  await node.pass(5000)
  assert.deepEqual(node.files(), before)
  assert.equal(node.report().healthy, true, 'it is looked at all the same')
  await node.agent.stop()
})

test('a second agent on the node touches nothing while the first one runs, and says so', async () => {
  const node = await controlPlaneNode({ ca, trust })
  await node.agent.stop()
  const { machine } = node
  const before = node.files()
  const stat = (process: number) => `${process} (node) S 1 ${'0 '.repeat(17)}77 0\n`
  for (const [path, text] of [
    ['self/stat', stat(12)],
    ['11/stat', stat(11)],
    ['sys/kernel/random/boot_id', 'this-boot\n'],
  ] as const) {
    machine.makeDirectory(posix.dirname(`/proc/${path}`), 0o755)
    machine.write(`/proc/${path}`, text, { mode: 0o444 })
  }
  machine.write('/var/lib/rollcall/control-plane/agent', `${stat(11)}this-boot\n`, { mode: 0o600 })
  node.restart()
  node.order('client', { sequence: 1, trust: 3 })
  await node.pass(5000)
  assert.deepEqual(node.files(), before)
  machine.remove('/proc/11/stat')
  await node.pass(5000)
  assert.equal(node.report().roles.client?.state, 'Settled')
  await node.agent.stop()
})
