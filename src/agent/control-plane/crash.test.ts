import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyIdOf } from './authorities.ts'
import { readKubeconfig } from './kubeconfig-text.ts'
import { leafOf } from './local-pairs.ts'
import { type ControlPlaneNode, controlPlaneNode, testCa, testTrust } from './testing/control-plane-node.ts'
import { idOf } from './testing/kubeadm-files.ts'

const ca = await testCa('kubernetes', 1)
const next = await testCa('rollcall-client-ca-2', 2, 11)
const trust = await testTrust({ client: [ca, next], 'apiserver-serving': [ca], 'kubelet-serving': [] })
const goal = { sequence: 1, trust: 3, sign: idOf(next), own: idOf(next) }
const whole = Number.POSITIVE_INFINITY

interface Outcome {
  node: ControlPlaneNode
  operations: number
}

/** A change of everything that the role client has on a node; the agent dies at one operation, and nobody can be asked then. */
async function changed(killAfter: number, comesUp: boolean): Promise<Outcome> {
  let down = false
  const node = await controlPlaneNode({
    ca,
    trust,
    patience: 2000,
    apiIsDown: () => down,
    seed: `${killAfter}`,
  })
  node.hold('client', next)
  if (!comesUp)
    node.pods.comesUp = (component, manifest) =>
      component !== 'kube-scheduler' || !manifest.includes('rollcall')
  node.life.killAfter = killAfter
  node.order('client', goal)
  await node.pass(comesUp ? 2000 : 5000)
  const { operations } = node.life
  if (killAfter !== whole) {
    void node.agent.stop()
    node.machine.crash()
    node.life.killAfter = whole
    down = true
    node.restart()
    await node.pass(comesUp ? 2000 : 5000)
  }
  return { node, operations }
}

/** The CAs whose certificates the node's programs hold, and the one that signs; more than one of each would be half a step. */
function state({ machine, pods, text }: ControlPlaneNode): string[] {
  const flags = text('/etc/kubernetes/manifests/kube-apiserver.yaml')
  const kubelet = /--kubelet-client-certificate=(\S+)/.exec(flags)?.[1] ?? ''
  const leaves = ['admin', 'super-admin', 'controller-manager', 'scheduler'].map(name => {
    const path = `/etc/kubernetes/${name}.conf`
    return readKubeconfig(new TextDecoder().decode(machine.read(path)), path).certificate
  })
  const issuers = [...leaves, text(kubelet)].map(pem => {
    const identifier = leafOf(pem)?.authorityKeyIdentifier
    return Buffer.from(identifier ?? []).toString('hex')
  })
  const signing = leafOf(pods.manager()?.signing)
  const anchors = flags.includes('client-ca.crt') ? 'judged anew' : 'judged as before'
  return [...new Set([...issuers, (signing && keyIdOf(signing)) ?? '']), anchors]
}

const before = [idOf(ca), 'judged as before']
const after = [idOf(next), 'judged anew']

for (const comesUp of [true, false])
  test(`killed at every third operation of the disk, API down: what was begun is ${comesUp ? 'finished' : 'undone'}, or was never begun`, async () => {
    const { node: uncut, operations } = await changed(whole, comesUp)
    assert.deepEqual(state(uncut), comesUp ? after : before)
    await uncut.agent.stop()
    const seen = new Set<string>()
    for (let at = comesUp ? 0 : 1; at < operations; at += 3) {
      const { node } = await changed(at, comesUp)
      const found = state(node)
      seen.add(found.join(' '))
      const expected = comesUp ? [before, after] : [before]
      assert.ok(
        expected.some(one => one.join() === found.join()),
        `killed after ${at} of ${operations}: ${found}`,
      )
      assert.equal(node.report().healthy, true, `killed after ${at}: ${JSON.stringify(node.report().roles)}`)
      const left = node.machine.list('/var/lib/rollcall/control-plane').includes('step')
        ? node.machine.list('/var/lib/rollcall/control-plane/step')
        : []
      assert.deepEqual(left, [], `killed after ${at}: copies are left`)
      await node.agent.stop()
      assert.equal(node.clock.pending(), 0)
    }
    assert.equal(seen.size, comesUp ? 2 : 1)
  })
