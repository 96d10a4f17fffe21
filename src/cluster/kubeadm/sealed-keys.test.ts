import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueLocally } from '../../agent/control-plane/local-pairs.ts'
import { generateSigner, loadSigner } from '../../keys/private-key.ts'
import { newSealingKey } from '../../keys/sealed.ts'
import type { KubeNode } from '../../kube/types.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { sealedAbout } from '../../trust/control-plane-orders.ts'
import type { ControlPlaneReport } from '../../trust/control-plane-report.ts'
import { proveSeal } from '../../trust/seal-proof.ts'
import { nameOf } from '../../x509/name.ts'
import { keyIdIn } from './kubeadm-control.ts'
import { SealedKeys } from './sealed-keys.ts'
import { kubeadmCluster } from './testing/kubeadm-cluster.ts'

test('a node that shows the sealing key of another one as its own, or was made anew, spoils nothing that is sealed to it', async () => {
  const under = await kubeadmCluster()
  const role = 'apiserver-serving'
  await under.cas.create(role, 2)
  const id = keyIdIn(under.cas, role, 2) ?? ''
  const ca = under.cas.authority('client', 1)
  assert.ok(ca)
  const key = newSealingKey(seededRandom(5))
  const seal = Buffer.from(key.publicKey).toString('base64')
  const keys = new SealedKeys(under.control)
  const now = under.cluster.clock.now()
  async function sealedFor(name: string, uid: string): Promise<string | undefined> {
    const subject = nameOf({ commonName: `system:node:${name}`, organizations: ['system:nodes'] })
    const pair = await issueLocally(
      ca as NonNullable<typeof ca>,
      { subject, usage: 'clientAuth' },
      {
        now,
        random: seededRandom(6),
      },
    )
    const identity = generateSigner('Ed25519', seededRandom(7))
    const signer = loadSigner(pair.key)
    const proof = await proveSeal(seal, { name, uid }, { chain: pair.certificate, signer, identity })
    const report: ControlPlaneReport = {
      ...{ seal, proof, healthy: true, instances: {}, roles: {}, seenAt: now },
      authorities: { [role]: [], client: [] },
      lacks: { [role]: [id], client: [] },
    }
    const node: KubeNode = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid } }
    return keys.forNode(role, node, report).sealed[id]
  }
  await sealedFor('cp-2', 'two')
  for (const uid of ['one', 'anew']) {
    const sealed = new Uint8Array(Buffer.from((await sealedFor('cp-1', uid)) ?? '', 'base64'))
    assert.match(key.open(sealed, sealedAbout(role, id, { name: 'cp-1', uid })).reveal(), /PRIVATE KEY/)
  }
  await under.stop()
})
