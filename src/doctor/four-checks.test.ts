/** The four things to look at when rotation breaks: requests, logs, expiry on the disk, whether a signer runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatMicroTime } from '../kube/time-format.ts'
import { type Lease, resources } from '../kube/types.ts'
import { allChecks } from './all-checks.ts'
import { checksTold, toldIds } from './log-lines.ts'
import { onQuietCluster } from './testing/examined-cluster.ts'
import { onNode } from './testing/examined-node.ts'
import { minute, ownRequest } from './testing/lonely-node.ts'

test(
  'requests: one that is pending, and one that was denied',
  onQuietCluster(async cluster => {
    await cluster.register('worker-1', [
      ['InternalIP', '10.0.0.11'],
      ['Hostname', 'worker-1'],
    ])
    const by = await cluster.node('worker-1')
    const pending = await cluster.ask({ by, ...ownRequest })
    cluster.clock.step(2 * minute)
    await cluster.beat('worker-1')
    await cluster.finds('C04')
    await cluster.decide(pending, 'Denied', 'Policy')
    await cluster.finds('C09')
    const foreign = await cluster.ask({ by, ...ownRequest, ips: ['10.0.0.12'] })
    await cluster.decide(foreign, 'Denied', 'Policy')
    await cluster.finds('C05')
  }),
)

test('logs: a line of each leads to its diagnosis', () => {
  const told = (line: string) => checksTold(line).map(({ meta }) => meta.id)
  const known = new Set(allChecks.map(({ meta }) => meta.id))
  assert.deepEqual(
    toldIds.filter(id => !known.has(id)),
    [],
  )
  const firsts: Record<string, string> = {
    'http: TLS handshake error from 10.0.0.1:4: no serving certificate available for the kubelet': 'G01',
    'Get "https://10.0.0.1:10250/": remote error: tls: internal error': 'G01',
    "x509: cannot validate certificate for 10.0.0.1 because it doesn't contain any IP SANs": 'G04',
    'x509: certificate has expired or is not yet valid: current time 2026-01-02T00:00:00Z is after 2026-01-01T00:00:00Z':
      'E11',
    'x509: certificate has expired or is not yet valid: current time 2026-01-01T00:00:00Z is before 2026-01-02T00:00:00Z':
      'E12',
    'recognized csr "csr-1" as [nodeclient] but subject access review was not approved': 'C01',
    'the signer has expired: NotAfter=2026-01-01 00:00:00 +0000 UTC': 'D03',
    'expected "/var/lib/kubelet/pki/kubelet-client-current.pem" to be a symlink but it is a file': 'E02',
    'retrieved csr is not compatible: csr subjects differ': 'B09',
    'csr "csr-x7" was deleted': 'C12',
    'user not permitted to approve requests with signerName "kubernetes.io/kubelet-serving"': 'C14',
    'spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 600 seconds (10 minutes)':
      'B06',
    'exec: executable /usr/bin/plugin failed with exit code 1': 'A17',
  }
  for (const [line, id] of Object.entries(firsts)) assert.equal(told(line)[0], id, line)
  assert.deepEqual(told('Started container'), [])
})

test(
  'expiry on the disk: of the client pair, and of the serving pair',
  onNode(async node => {
    await node.pair('client', { from: -48, to: -24 })
    await node.finds('E11')
    await node.pair('client')
    await node.link('server', await node.pair('server', { from: -48, to: -24 }))
    await node.finds('G07')
  }),
)

test(
  'no signer: none that signs, and none that runs',
  onQuietCluster(async cluster => {
    await cluster.register('worker-1', [
      ['InternalIP', '10.0.0.11'],
      ['Hostname', 'worker-1'],
    ])
    const name = await cluster.ask({ by: await cluster.node('worker-1'), ...ownRequest })
    await cluster.decide(name, 'Approved', 'KubectlApprove')
    const stopped = formatMicroTime(cluster.clock.now())
    cluster.clock.step(2 * minute)
    await cluster.beat('worker-1')
    await cluster.finds('D01')
    await cluster.admin.create<Lease>(resources.leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
      spec: { holderIdentity: 'cp-1', leaseDurationSeconds: 15, renewTime: stopped },
    })
    const report = await cluster.finds('D02')
    assert.ok(report.explained.some(({ id, by }) => id === 'D01' && by === 'D02'))
  }),
)
