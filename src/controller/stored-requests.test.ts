import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import type { KubeClient } from '../kube/client.ts'
import type { CertificateSigningRequest, KubeList, KubeObject } from '../kube/types.ts'
import { signerNames } from '../kube/types.ts'
import { calm, onCluster } from '../testing/controlled-cluster.ts'

const old = 2000
const onePage = 500

/** Answered two days ago, and never cleaned up. */
const stale = (index: number): CertificateSigningRequest => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: {
    name: `a-${String(index).padStart(4, '0')}`,
    uid: `uid-${index}`,
    resourceVersion: '1',
    creationTimestamp: '2026-02-27T12:00:00Z',
  },
  spec: { signerName: signerNames.kubeletServing, request: 'x'.repeat(800), usages: [] },
  status: {
    conditions: [{ type: 'Denied', status: 'True', reason: 'No', lastUpdateTime: '2026-02-27T12:00:00Z' }],
  },
})

/** The client, to which many old requests are listed before those that are there; `gate` keeps all but a page back. */
function crowded(client: KubeClient, gate: Promise<void>): KubeClient {
  return {
    ...client,
    async list<T extends KubeObject>(...[resource, options = {}, signal]: Parameters<KubeClient['list']>) {
      const whole = await client.list<T>(resource, { ...options, continue: '' }, signal)
      if (resource.kind !== 'CertificateSigningRequest') return whole
      const from = Number(options.continue ?? 0)
      if (from > 0) await gate
      const metadata = { ...whole.metadata, continue: String(from + onePage) }
      if (from >= old) return whole
      const items = Array.from({ length: onePage }, (_, index) => stale(from + index)) as KubeObject[]
      return { ...whole, metadata, items } as KubeList<T>
    },
  }
}

test(
  'with two thousand old requests a new node gets its certificate before they were read; an address waits until all were',
  onCluster(async cluster => {
    const first = await cluster.start()
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    await first.stop()
    await cluster.register('a', [['InternalIP', '10.0.0.9']])
    await cluster.register('b', [
      ['InternalIP', '10.0.0.1'],
      ['InternalIP', '10.0.0.2'],
    ])

    const gate = Promise.withResolvers<void>()
    const metrics = new Registry()
    await cluster.start({ client: crowded(cluster.controllerClient, gate.promise), metrics })
    const by = await cluster.node('b')
    const joined = await cluster.ask({ by: cluster.bootstrapper, node: 'c' })
    const renewed = await cluster.ask({ by, node: 'b' })
    const own = await cluster.ask({ by, node: 'b', ips: ['10.0.0.2'] })
    assert.equal(await cluster.fate(joined), 'Approved AutoApproved, issued')
    assert.equal(await cluster.fate(renewed), 'Approved AutoApproved, issued')
    assert.equal(await cluster.fate(own), 'pending')

    gate.resolve()
    for (let page = 0; page <= old / onePage; page++) {
      await calm()
      await cluster.clock.advance(0)
    }
    await calm()
    assert.equal(await cluster.fate(own), 'Approved SansProven, issued')
    // Its certificate is told by the last page alone.
    const taken = await cluster.ask({ by, node: 'b', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(taken), 'pending')
    assert.match(
      await metrics.metrics(),
      /csr_stored\{signer="kubernetes.io\/kubelet-serving",state="denied"\} 2000/,
    )
  }),
)
