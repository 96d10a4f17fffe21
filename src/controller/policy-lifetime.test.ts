import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApprovalPolicy } from '../approve/policy.ts'
import { signerNames } from '../kube/types.ts'
import { type ControlledCluster, calm, nodeStatusPolicy, onCluster } from '../testing/controlled-cluster.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'

const hour = 3600
const pool = 'node-restriction.kubernetes.io/pool'
const policy: ApprovalPolicy = {
  ...nodeStatusPolicy,
  lifetime: { maxSeconds: 4 * hour },
  pools: [{ name: 'edge', nodeLabels: { [pool]: 'edge' }, lifetime: { maxSeconds: hour } }],
}

/** Seconds from issuing to the end. */
async function lifeOf(cluster: ControlledCluster, name: string): Promise<number> {
  const { status } = await cluster.read(name)
  const [leaf] = parseCertificatesPem(Buffer.from(status?.certificate ?? '', 'base64').toString())
  return ((leaf?.notAfter ?? 0) - cluster.clock.now()) / 1000
}

test(
  'H8: a request that asks for no lifetime gets no more than the policy and the pools of its node allow',
  onCluster(async cluster => {
    await cluster.start({ approvalPolicy: policy })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const client = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.equal(await cluster.fate(client), 'Approved AutoApproved, issued')
    assert.equal(await lifeOf(cluster, client), 4 * hour)
    await cluster.register('b', [['InternalIP', '10.0.0.2']])
    await cluster.label('b', { [pool]: 'edge' })
    const serving = await cluster.ask({ by: await cluster.node('b'), node: 'b', ips: ['10.0.0.2'] })
    assert.equal(await cluster.fate(serving), 'Approved SansProven, issued')
    assert.equal(await lifeOf(cluster, serving), hour)
  }),
)

test(
  'H8: what a person approves is bound by the policy too',
  onCluster(async cluster => {
    await cluster.start({ approvalPolicy: { ...policy, mode: 'manual' } })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.decide(name, 'Approved', 'ByHand')
    assert.equal(await lifeOf(cluster, name), 4 * hour)
  }),
)

test(
  'H8: where another signer signs, a lifetime that the policy bounds has to be asked for',
  onCluster(async cluster => {
    await cluster.start({ approvalPolicy: policy, only: ['approval'] })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.equal(await cluster.fate(name), 'Denied LifetimeOutOfRange')
    const asked = await cluster.ask({ by: cluster.bootstrapper, node: 'a', expirationSeconds: hour })
    assert.equal(await cluster.fate(asked), 'Approved AutoApproved')
  }),
)

test(
  'a policy says nothing about the certificates of other clients',
  onCluster(async cluster => {
    await cluster.start({ approvalPolicy: policy })
    const name = await cluster.ask({
      by: cluster.admin,
      node: 'a',
      organizations: ['staff'],
      signerName: signerNames.apiserverClient,
    })
    await cluster.decide(name, 'Approved', 'ByHand')
    await calm()
    assert.ok((await lifeOf(cluster, name)) > 23 * hour)
  }),
)
