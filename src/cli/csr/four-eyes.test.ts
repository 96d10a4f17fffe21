import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csrCondition } from '../../kube/csr-conditions.ts'
import { resources, signerNames } from '../../kube/types.ts'
import { runCommand } from '../../testing/command-run.ts'
import { type ControlledCluster, nodeStatusPolicy, onCluster } from '../../testing/controlled-cluster.ts'
import { register } from './csr.ts'

const certificates = 'certificates.k8s.io'
const approverRules = [
  { apiGroups: [certificates], resources: ['certificatesigningrequests'], verbs: ['get', 'create'] },
  { apiGroups: [certificates], resources: ['certificatesigningrequests/approval'], verbs: ['update'] },
  {
    apiGroups: [certificates],
    resources: ['signers'],
    resourceNames: [signerNames.kubeletServing],
    verbs: ['approve'],
  },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
]

/** A request that two people have to approve, and a person's `rollcall csr approve`. */
const whereTwoApprove = (run: (cluster: ControlledCluster, name: string, as: Approver) => Promise<void>) =>
  onCluster(async cluster => {
    await cluster.start({ approvalPolicy: { ...nodeStatusPolicy, mode: 'manual', approvers: 2 } })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    for (const person of ['alice', 'bob']) await cluster.grant(person, approverRules)
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    await run(cluster, name, async (person, ...words) => {
      const client = await cluster.as(person)
      return (await runCommand(register, client, cluster.clock, 'csr', 'approve', ...words)).stdout
    })
  })

/** As `kubectl certificate approve` does. */
async function approveByHand(cluster: ControlledCluster, person: string, name: string): Promise<void> {
  const csr = await cluster.read(name)
  const approved = { type: 'Approved', status: 'True' as const, reason: 'KubectlApprove', message: '' }
  const status = { ...csr.status, conditions: [...(csr.status?.conditions ?? []), approved] }
  const client = await cluster.as(person)
  await client.update(resources.certificateSigningRequests, { ...csr, status }, { subresource: 'approval' })
}

type Approver = (person: string, ...words: string[]) => Promise<string>

test(
  'two different people approve a held request, each with a reason; the condition keeps both',
  whereTwoApprove(async (cluster, name, as) => {
    await assert.rejects(as('alice', name), /it is held: give --reason/)
    assert.match(await as('alice', name, '--reason', 'new rack'), /approved by one of two people/)
    assert.equal(csrCondition(await cluster.read(name), 'Approved'), undefined)
    await assert.rejects(as('alice', name, '--reason', 'again'), /alice has approved it already/)
    assert.equal(await as('bob', name, '--reason', 'checked'), `${name} approved\n`)
    assert.equal(
      csrCondition(await cluster.read(name), 'Approved')?.message,
      'This CSR was approved by rollcall csr approve: checked. First approved by alice: new rack.',
    )
  }),
)

test(
  'a first approval lapses: then the next one is the first again',
  whereTwoApprove(async (cluster, name, as) => {
    await as('alice', name, '--reason', 'new rack', '--valid', '5')
    await cluster.clock.advance(301_000)
    await assert.rejects(approveByHand(cluster, 'bob', name), /it takes two different people/)
    assert.match(await as('bob', name, '--reason', 'checked'), /approved by one of two people/)
    assert.equal(await as('alice', name, '--reason', 'still'), `${name} approved\n`)
  }),
)

test(
  'the API holds it too: kubectl alone, in another’s name, or with the conditions taken back is refused',
  whereTwoApprove(async (cluster, name, as) => {
    const alice = await cluster.as('alice')
    const put = async (...types: [type: string, message: string][]) => {
      const csr = await cluster.read(name)
      const more = types.map(([type, message]) => ({ type, status: 'True' as const, reason: 'x', message }))
      const status = { ...csr.status, conditions: [...(csr.status?.conditions ?? []), ...more] }
      await alice.update(
        resources.certificateSigningRequests,
        { ...csr, status },
        { subresource: 'approval' },
      )
    }
    await assert.rejects(put(['Approved', '']), /it takes two different people/)
    await assert.rejects(
      put(['rollcall.dev/FirstApproval', '"bob" until 2027-01-01T00:00:00Z: x']),
      /bears the name of who writes it/,
    )
    const csr = await cluster.read(name)
    const bare = { ...csr, status: { conditions: [] } }
    await assert.rejects(
      alice.update(resources.certificateSigningRequests, bare, { subresource: 'approval' }),
      /are not taken back/,
    )
    await as('alice', name, '--reason', 'new rack')
    await assert.rejects(put(['Approved', '']), /it takes two different people/)
    await as('bob', name, '--reason', 'checked')
  }),
)

test(
  'nobody approves his own request',
  onCluster(async cluster => {
    await cluster.grant('alice', approverRules)
    const alice = await cluster.as('alice')
    const name = await cluster.ask({ by: alice, node: 'a', ips: ['10.0.0.1'] })
    const words = ['csr', 'approve', name, '--accept-unproven', '--reason', 'mine']
    await assert.rejects(runCommand(register, alice, cluster.clock, ...words), /alice made it: somebody else/)
    // Whether it is held already or not: nobody is to be faster than the controller.
    await assert.rejects(approveByHand(cluster, 'alice', name), /not approved by who made it/)
    await cluster.start({ approvalPolicy: { ...nodeStatusPolicy, mode: 'manual' } })
    await assert.rejects(approveByHand(cluster, 'alice', name), /not approved by who made it/)
  }),
)
