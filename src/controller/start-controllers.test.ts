import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { hasCode } from '../errors.ts'
import { generateSigner } from '../keys/private-key.ts'
import { signerNames } from '../kube/types.ts'
import { calm, nodeStatusPolicy, onCluster } from '../testing/controlled-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'

test(
  'verdicts and certificates are counted',
  onCluster(async cluster => {
    const metrics = new Registry()
    await cluster.start({ metrics })
    await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    const text = await metrics.metrics()
    const signer = 'signer="kubernetes.io/kube-apiserver-client-kubelet"'
    assert.ok(
      text.includes(`rollcall_csr_verdicts_total{${signer},outcome="Approve",reason="AutoApproved"} 1`),
    )
    assert.ok(text.includes(`rollcall_certificates_issued_total{${signer}} 1`))
  }),
)

test(
  'with leader election one works, and another goes on when it stops',
  onCluster(async cluster => {
    const election = (identity: string) => ({
      leaderElection: { identity, namespace: 'kube-system', name: 'rollcall' },
    })
    const first = await cluster.start(election('one'))
    await cluster.start(election('two'))
    assert.equal(
      await cluster.fate(await cluster.ask({ by: cluster.bootstrapper, node: 'a' })),
      'Approved AutoApproved, issued',
    )
    await first.stop()
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'b' })
    assert.equal(await cluster.fate(name), 'pending')
    await cluster.clock.advance(10_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)

test(
  'a CA or a policy that cannot be used is refused before anything runs',
  onCluster(async cluster => {
    const ca = { certificate: cluster.ca.pem, signer: generateSigner('Ed25519', seededRandom(99)) }
    await assert.rejects(cluster.start({ signers: { [signerNames.kubeletClient]: ca } }), error =>
      hasCode(error, 'SIGNER_UNUSABLE'),
    )
    const bad = { ...nodeStatusPolicy, allowedRanges: ['127.0.0.1'] }
    await assert.rejects(cluster.start({ approvalPolicy: bad }), error => hasCode(error, 'POLICY_INVALID'))
  }),
)

test(
  'in a calm cluster nothing is warned of',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.clock.advance(60_000)
    assert.deepEqual(
      cluster.log.lines.filter(line => !line.startsWith('info: ')),
      [],
    )
  }),
)
