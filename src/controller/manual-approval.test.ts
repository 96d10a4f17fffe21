import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csrCondition } from '../kube/csr-conditions.ts'
import { calm, nodeStatusPolicy, onCluster } from '../testing/controlled-cluster.ts'

test(
  'mode manual: a request that no rule objects to says that it is held and why, on itself and on its Node',
  onCluster(async cluster => {
    await cluster.start({ approvalPolicy: { ...nodeStatusPolicy, mode: 'manual', approvers: 2 } })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    assert.equal(
      await cluster.fate(name),
      'rollcall.dev/Held ManualApproval, rollcall.dev/FourEyes PolicyWantsTwo',
    )
    const held = csrCondition(await cluster.read(name), 'rollcall.dev/Held')
    assert.match(
      held?.message ?? '',
      /a person's word .*IP 10\.0\.0\.1 \(Node a status\.addresses InternalIP\)/,
    )
    assert.ok((await cluster.eventsOf(name)).includes('Warning ManualApproval'))
    assert.deepEqual(await cluster.eventsOf('a'), ['Warning ManualApproval'])
    // Said once: another look changes nothing.
    const { resourceVersion } = (await cluster.read(name)).metadata
    await cluster.register('a', [
      ['ExternalIP', '203.0.113.1'],
      ['InternalIP', '10.0.0.1'],
    ])
    assert.equal((await cluster.read(name)).metadata.resourceVersion, resourceVersion)
  }),
)

test(
  'a hold ends: what nobody decided in time is denied, and says what it was held for',
  onCluster(async cluster => {
    const actions = { SanUnproven: 'Hold' } as const
    await cluster.start({ approvalPolicy: { ...nodeStatusPolicy, actions, holdSeconds: 600 } })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.9'] })
    assert.equal(await cluster.fate(name), 'rollcall.dev/Held SanUnproven')
    await cluster.clock.advance(599_000)
    assert.equal(await cluster.fate(name), 'rollcall.dev/Held SanUnproven')
    await cluster.clock.advance(2_000)
    await calm()
    assert.equal(await cluster.fate(name), 'rollcall.dev/Held SanUnproven, Denied HoldExpired')
    assert.match(
      csrCondition(await cluster.read(name), 'Denied')?.message ?? '',
      /held for SanUnproven: .*10\.0\.0\.9/,
    )
  }),
)
