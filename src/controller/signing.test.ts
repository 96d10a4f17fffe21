import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatus } from '../kube/client.ts'
import { csrCondition } from '../kube/csr-conditions.ts'
import type { LedgerEntry } from '../sign/ledger.ts'
import { calm, onCluster } from '../testing/controlled-cluster.ts'

test(
  'C-33: an approved request that breaks the profile is marked Failed, in Kubernetes’ words',
  onCluster(async cluster => {
    await cluster.start({ only: ['signing'] })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a', organizations: ['x'] })
    await cluster.decide(name, 'Approved', 'KubectlApprove')
    assert.equal(await cluster.fate(name), 'Approved KubectlApprove, Failed SignerValidationFailure')
    const failed = csrCondition(await cluster.read(name), 'Failed')
    assert.equal(failed?.message, 'subject organization is not system:nodes')
  }),
)

test(
  'every certificate is in the ledger before the requester can see it, and none is handed out that is not',
  onCluster(async cluster => {
    const entries: [LedgerEntry, string][] = []
    let full = true
    const ledger = {
      async record(entry: LedgerEntry) {
        if (full) throw new Error('the ledger is full')
        entries.push([entry, await cluster.fate(entry.request.name)])
      },
    }
    await cluster.start({ ledger })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.equal(await cluster.fate(name), 'Approved AutoApproved')
    full = false
    await cluster.clock.advance(1_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
    const [[entry, fateBefore] = assert.fail(), ...more] = entries
    assert.equal(more.length, 0)
    assert.equal(fateBefore, 'Approved AutoApproved')
    assert.equal(entry.subject, 'CN=system:node:a,O=system:nodes')
    assert.equal(
      Buffer.from((await cluster.read(name)).status?.certificate ?? '', 'base64').toString(),
      entry.certificate,
    )
  }),
)

test(
  'C-40: requests that have had their time are deleted within the hour after it',
  onCluster(async cluster => {
    await cluster.start()
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.clock.advance(3_600_000)
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
    await cluster.clock.advance(3_600_000)
    await assert.rejects(cluster.read(name), error => isStatus(error, 'NotFound'))
  }),
)
