import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../kube/client.ts'
import { impersonating } from '../kube/impersonating-transport.ts'
import { type KubeNode, resources } from '../kube/types.ts'
import { canaryGroup, canaryUser } from '../survey/canary/run-canary.ts'
import { calm } from '../testing/controlled-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { onFleet, onQuietCluster } from './testing/examined-cluster.ts'
import { foundIds, later, lonelyNode, minute, ownRequest } from './testing/lonely-node.ts'

test(
  'C16: a certificate for the name of another node, and for that of the API server',
  onQuietCluster(async cluster => {
    await cluster.start({ only: ['signing'] })
    await cluster.register('worker-1', [
      ['InternalIP', '10.0.0.11'],
      ['Hostname', 'worker-1'],
    ])
    await cluster.register('worker-2', [
      ['InternalIP', '10.0.0.12'],
      ['Hostname', 'worker-2'],
    ])
    const by = await cluster.node('worker-1')
    // As `xargs kubectl certificate approve` does.
    const stolen = await cluster.ask({
      by,
      node: 'worker-1',
      dns: ['worker-1'],
      ips: ['10.0.0.11', '10.0.0.12'],
    })
    await cluster.decide(stolen, 'Approved', 'KubectlApprove')
    const { findings } = await cluster.finds('C16')
    assert.match(JSON.stringify(findings), /IP 10.0.0.12 \(Node worker-2\)/)
    const name = await cluster.ask({ by, node: 'worker-1', dns: ['cluster.example'], ips: ['10.0.0.11'] })
    await cluster.decide(name, 'Approved', 'KubectlApprove')
    assert.match(
      JSON.stringify((await cluster.finds('C16')).findings),
      /DNS cluster.example \(the API server\)/,
    )
  }),
)

test(
  'C11: the older of two requests is approved after the node gave it up',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.start({ only: ['signing'] })
    const node = await cluster.node('worker-1')
    const old = await cluster.ask({ by: node, node: 'worker-1' })
    await later(cluster, 16 * minute)
    await cluster.ask({ by: node, node: 'worker-1' })
    assert.ok(!foundIds(await cluster.examine()).includes('C11'), 'nobody decided yet')
    await cluster.decide(old, 'Approved', 'KubectlApprove')
    const { findings } = await cluster.finds('C11')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /^approved after 16m/)
  }),
)

test(
  'C14: report 46: an approver that may update approvals, and approve for no signer',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    // Nobody else may approve.
    for (const name of ['granted:rollcall', 'rollcall:controllers'])
      await cluster.admin.delete(resources.clusterRoleBindings, { name })
    const approval = {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/approval'],
      verbs: ['update'],
    }
    await cluster.grant('approver', [
      approval,
      { ...approval, resources: ['certificatesigningrequests'], verbs: ['get', 'list'] },
    ])
    const name = await cluster.ask({ by: await cluster.node('worker-1'), ...ownRequest })
    await later(cluster, 2 * minute)
    const csr = await cluster.read(name)
    const approved = { type: 'Approved', status: 'True' as const, reason: 'X' }
    const trying = (await cluster.as('approver')).update(
      resources.certificateSigningRequests,
      { ...csr, status: { conditions: [approved] } },
      { subresource: 'approval' },
    )
    await assert.rejects(trying, /not permitted to approve requests with signerName/)
    const report = await cluster.finds('C14')
    assert.deepEqual(report.findings[0]?.objects, ['User approver'])
    assert.deepEqual(report.explained, [{ id: 'C04', by: 'C14', count: 1 }])
  }),
)

test(
  'C15: an approver that decided is silent for a hundred nodes',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    const first = await cluster.ask({ by: await cluster.node('worker-1'), ...ownRequest })
    await cluster.decide(first, 'Approved', 'AutoApproved')
    await cluster.start({ only: ['signing'] })
    for (let n = 0; n < 101; n++) await cluster.ask({ by: cluster.bootstrapper, node: `new-${n}` })
    await later(cluster, 6 * minute)
    assert.ok(foundIds(await cluster.examine()).includes('C03'), 'nobody was seen to approve such requests')
    const client = await cluster.ask({ by: cluster.bootstrapper, node: 'new-200' })
    await cluster.decide(client, 'Approved', 'AutoApproved')
    const report = await cluster.finds('C15')
    assert.deepEqual(report.explained, [{ id: 'C03', by: 'C15', count: 101 }])
  }),
)

test(
  'G11: a node that was Ready a minute before its serving certificate',
  onFleet(async cluster => {
    await cluster.stopControllers()
    await cluster.start({ only: ['signing'] })
    await cluster.register('worker-3', [['InternalIP', '10.0.0.13']])
    await cluster.beat('worker-3')
    const node = await cluster.admin.get<KubeNode>(resources.nodes, { name: 'worker-3' })
    const lastTransitionTime = node.metadata.creationTimestamp ?? ''
    const ready = {
      type: 'Ready',
      status: 'True' as const,
      reason: 'KubeletReady',
      message: '',
      lastTransitionTime,
    }
    const changed = { ...node, status: { ...node.status, conditions: [ready] } }
    await cluster.admin.update(resources.nodes, changed, { subresource: 'status' })
    const name = await cluster.ask({
      by: await cluster.node('worker-3'),
      node: 'worker-3',
      ips: ['10.0.0.13'],
    })
    await later(cluster, minute)
    for (const other of ['worker-2', 'worker-3']) await cluster.beat(other)
    await cluster.decide(name, 'Approved', 'KubectlApprove')
    const { findings } = await cluster.finds('G11')
    assert.match(findings[0]?.evidence[1]?.value ?? '', /approved 60s later/)
    assert.equal(findings[0]?.severity, 'info')
  }),
)

test(
  'Z01: a fleet that joined together and does not renew',
  onFleet(async cluster => {
    for (let n = 3; n < 23; n++) await cluster.join(`worker-${n}`, `10.0.0.${10 + n}`)
    assert.deepEqual(foundIds(await cluster.examine()), [])
    await cluster.stopControllers()
    await later(cluster, 21.5 * 60 * minute)
    for (let n = 2; n < 23; n++) await cluster.beat(`worker-${n}`)
    const { findings } = await cluster.finds('Z01')
    assert.deepEqual(
      findings.map(({ evidence }) => /^of 22: 22 in the hour/.test(evidence[0]?.value ?? '')),
      [true, true],
    )
  }),
)

test(
  'the canary: issued, nobody approves, nobody signs, and SKIP without the right to act as it',
  onQuietCluster(async cluster => {
    const random = seededRandom(12)
    const asking = async (user: string, ...groups: string[]) => {
      const as = impersonating(await cluster.transportAs(user, ...groups), canaryUser, canaryGroup)
      return { canary: { asNode: createClient(as), random } }
    }
    const admin = await asking('admin', 'system:masters')
    /** The canary waits by the clock of the cluster. */
    const found = async (asked: Awaited<ReturnType<typeof asking>>) => {
      const examining = cluster.examine(asked)
      const over = examining.then(() => true)
      while (!(await Promise.race([over, calm().then(() => false)]))) await cluster.clock.advance(1000)
      return examining
    }
    assert.deepEqual(foundIds(await found(admin)), ['C03'])
    await cluster.start({ only: ['approval'] })
    assert.deepEqual(foundIds(await found(admin)), ['D01'])
    await cluster.start({ only: ['signing'] })
    assert.deepEqual(foundIds(await found(admin)), [])
    const { checks } = await found(await asking('nobody'))
    const skipped = checks.filter(({ status }) => status === 'SKIP').map(({ id }) => id)
    assert.deepEqual(skipped, ['C03', 'D01'])
  }),
)
