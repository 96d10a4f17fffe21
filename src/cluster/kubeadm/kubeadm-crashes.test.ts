import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../fleet/simulated/random.ts'
import { kubeadmCluster } from './testing/kubeadm-cluster.ts'

for (const role of ['client', 'apiserver-serving'] as const)
  test(`agents and controllers that are killed again and again: the change of ${role} ends, one control plane at a time`, async () => {
    const under = await kubeadmCluster()
    const random = new SeededRandom(role)
    await under.begin(role)
    for (let round = 0; round < 12; round += 1) {
      const node = under.nodes[random.integer(0, 2)]
      assert.ok(node)
      node.life.killAfter = node.life.operations + random.integer(0, 60)
      await under.pass(random.integer(1, 6))
      void node.agent.stop()
      node.life.killAfter = Number.POSITIVE_INFINITY
      node.restart()
      if (random.chance(0.5)) await under.restartController()
    }
    if (role === 'client') {
      await under.until(role, phase => phase === 'Reissuing')
      await under.acknowledge(role, 'ledger')
    }
    await under.until(role, phase => phase === 'Done')
    assert.deepEqual([under.lost, under.mostDown()], [[], 1])
    await under.stop()
  })
