import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csrCondition } from '../kube/csr-conditions.ts'
import { resources } from '../kube/types.ts'
import { calm, onCluster } from '../testing/controlled-cluster.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { verifyChain } from '../x509/chain.ts'
import { formatName } from '../x509/name.ts'

test(
  'a bootstrapping node gets its client certificate, then its serving certificate, without time passing',
  onCluster(async cluster => {
    await cluster.start()
    const client = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.equal(await cluster.fate(client), 'Approved AutoApproved, issued')
    await cluster.register('a', [
      ['Hostname', 'a'],
      ['InternalIP', '10.0.0.1'],
    ])
    const serving = await cluster.ask({
      by: await cluster.node('a'),
      node: 'a',
      dns: ['a'],
      ips: ['10.0.0.1'],
    })
    assert.equal(await cluster.fate(serving), 'Approved SansProven, issued')

    const { status } = await cluster.read(serving)
    const [leaf, ...more] = parseCertificatesPem(Buffer.from(status?.certificate ?? '', 'base64').toString())
    assert.ok(leaf && more.length === 0)
    assert.equal(formatName(leaf.subject), 'CN=system:node:a,O=system:nodes')
    const { certificate: root } = cluster.ca
    assert.deepEqual(verifyChain([leaf], [root], { now: cluster.clock.now(), usage: 'serverAuth' }), {
      ok: true,
    })
    const approved = csrCondition(await cluster.read(serving), 'Approved')
    assert.match(approved?.message ?? '', /DNS "a" \(Node a status.addresses Hostname\)/)
    assert.equal(approved?.lastUpdateTime, '2026-03-01T12:00:00Z')
    assert.deepEqual(await cluster.eventsOf(serving), ['Normal SansProven'])
  }),
)

test(
  'C-11: a renewal is approved as one',
  onCluster(async cluster => {
    await cluster.start()
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a' })
    assert.match(
      csrCondition(await cluster.read(name), 'Approved')?.message ?? '',
      /self kubelet client certificate/,
    )
  }),
)

test(
  'A15: requests that were there before the controllers are judged when they start',
  onCluster(async cluster => {
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.start()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)

test(
  'a serving request waits for its Node and its addresses, and is approved the moment they are there',
  onCluster(async cluster => {
    await cluster.start()
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(name), 'pending')
    await cluster.register('a', [['Hostname', 'a']])
    assert.equal(await cluster.fate(name), 'pending')
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    assert.equal(await cluster.fate(name), 'Approved SansProven, issued')
    assert.deepEqual(await cluster.eventsOf(name), [
      'Normal NodeNotFound',
      'Normal SanUnproven',
      'Normal SansProven',
    ])
  }),
)

test(
  'a serving request is denied when its address is not there after five minutes',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.9'] })
    await cluster.clock.advance(299_000)
    assert.equal(await cluster.fate(name), 'pending')
    await cluster.clock.advance(2_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Denied SanUnproven')
    assert.match(
      csrCondition(await cluster.read(name), 'Denied')?.message ?? '',
      /IP 10\.0\.0\.9 not on Node a status\.addresses/,
    )
  }),
)

test(
  'a thief that writes its victim’s address to its own Node is denied at once',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.register('victim', [['InternalIP', '10.0.0.1']])
    await cluster.register('thief', [
      ['InternalIP', '10.0.0.2'],
      ['InternalIP', '10.0.0.1'],
    ])
    const name = await cluster.ask({ by: await cluster.node('thief'), node: 'thief', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(name), 'Denied OwnedByOtherNode')
    assert.match(csrCondition(await cluster.read(name), 'Denied')?.message ?? '', /claimed by node "victim"/)
  }),
)

test(
  'a stranger that asks for a node’s certificate is denied, one that asks for another is left alone',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.grant('eve', [
      { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create'] },
    ])
    const eve = await cluster.as('eve')
    assert.equal(await cluster.fate(await cluster.ask({ by: eve, node: 'a' })), 'Denied RequesterNotNode')
    const other = await cluster.ask({ by: eve, node: 'a', signerName: 'example.com/signer' })
    assert.equal(await cluster.fate(other), 'pending')
    assert.deepEqual(await cluster.eventsOf(other), [])
  }),
)

test(
  'without a policy serving requests stay pending, with one Event; client requests are judged',
  onCluster(async cluster => {
    await cluster.start({ approvalPolicy: undefined, signers: {} })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    await cluster.register('a', [['InternalIP', '10.0.0.2']])
    assert.equal(await cluster.fate(name), 'pending')
    assert.deepEqual(await cluster.eventsOf(name), ['Warning NoPolicy'])
    assert.equal(
      await cluster.fate(await cluster.ask({ by: cluster.bootstrapper, node: 'a' })),
      'Approved AutoApproved',
    )
  }),
)

test(
  'M11: C-14, a request whose access is not allowed stays pending until a role binding allows it',
  onCluster(async cluster => {
    const binding = { name: 'kubeadm:node-autoapprove-bootstrap' }
    const before = await cluster.admin.get(resources.clusterRoleBindings, binding)
    await cluster.admin.delete(resources.clusterRoleBindings, binding)
    await cluster.start()
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.clock.advance(60_000)
    assert.equal(await cluster.fate(name), 'pending')
    assert.deepEqual(await cluster.eventsOf(name), ['Warning NotAuthorised'])
    const { name: same } = before.metadata
    await cluster.admin.create(resources.clusterRoleBindings, { ...before, metadata: { name: same } })
    await cluster.clock.advance(120_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)

test(
  'A13: what another approver decided first is left as it is',
  onCluster(async cluster => {
    await cluster.start({ only: ['signing'] })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.decide(name, 'Denied', 'KubectlDeny')
    await cluster.start({ only: ['approval'] })
    assert.equal(await cluster.fate(name), 'Denied KubectlDeny')
  }),
)

test(
  'two approvers at once write one decision',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.start({ only: ['approval', 'signing'] })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)

test(
  'a request that takes the name of a deleted one is judged anew, with its own Event',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const by = await cluster.node('a')
    const name = await cluster.ask({ by, node: 'a', ips: ['10.0.0.9'] })
    const first = await cluster.read(name)
    await cluster.admin.delete(resources.certificateSigningRequests, { name })
    const { uid: _uid, resourceVersion: _version, ...metadata } = first.metadata
    await cluster.admin.create(resources.certificateSigningRequests, { ...first, metadata, status: {} })
    await calm()
    // The admin asks now, and is no node.
    assert.equal(await cluster.fate(name), 'Denied RequesterNotNode')
    assert.deepEqual(await cluster.eventsOf(name), ['Normal SanUnproven', 'Warning RequesterNotNode'])
  }),
)
