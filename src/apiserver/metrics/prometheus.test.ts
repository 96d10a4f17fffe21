import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Registry } from 'prom-client'
import { type CertificateSigningRequest, resources } from '../../kube/types.ts'
import { silentLog } from '../../ports.ts'
import { startEmbeddedCluster } from '../../testing/embedded-cluster.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { createTestAuthority } from '../../testing/test-authority.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { encodeObject, keyOf } from '../stored-object.ts'
import { smallApi, start, textOf } from '../testing/small-api.ts'
import { createApiMetrics } from './prometheus.ts'

function countedApi() {
  const api = smallApi({ metrics: createApiMetrics(new Registry()) })
  const page = async () => textOf(await api.handle('GET', '/metrics'))
  return { ...api, page }
}

const nodes = '/api/v1/nodes'

describe('/metrics', () => {
  it('counts requests by what they were about and how they were answered', async () => {
    const api = countedApi()
    await api.call('POST', nodes, { metadata: { name: 'a' } })
    await api.handle('GET', `${nodes}/b`)
    const page = await api.page()
    const labels = (verb: string) =>
      `verb="${verb}",dry_run="",group="",version="v1",resource="nodes",subresource="",scope="resource",component="apiserver"`
    assert.match(page, new RegExp(`apiserver_request_total{${labels('POST')},code="201"} 1\n`))
    assert.match(page, new RegExp(`apiserver_request_total{${labels('GET')},code="404"} 1\n`))
    assert.match(page, new RegExp(`apiserver_request_duration_seconds_count{${labels('POST')}} 1\n`))
    assert.match(page, /apiserver_storage_objects{resource="nodes"} 1\n/)
    assert.match(page, /apiserver_storage_objects{resource="leases.coordination.k8s.io"} 0\n/)
    // The request for this very page.
    assert.match(page, /apiserver_current_inflight_requests{request_kind="readOnly"} 1\n/)
  })

  it('counts the events of watches, and a watch as a request when it is over', async () => {
    const api = countedApi()
    const gone = new AbortController()
    const { body } = await api.handle('GET', `${nodes}?watch=1`, undefined, {}, gone.signal)
    const stream = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    await api.call('POST', nodes, { metadata: { name: 'a' } })
    await stream.next()
    assert.match(await api.page(), /apiserver_longrunning_requests{verb="WATCH",component="apiserver"} 1\n/)
    gone.abort()
    await stream.next()
    const page = await api.page()
    assert.match(page, /apiserver_watch_events_total{group="",version="v1",resource="nodes"} 1\n/)
    assert.match(page, /apiserver_request_total{verb="WATCH",[^}]*resource="nodes"[^}]*code="200"} 1\n/)
    assert.doesNotMatch(page, /apiserver_request_duration_seconds_count{verb="WATCH"/)
  })

  it('has no more series after a thousand requests made to harm than after ten', async () => {
    const api = countedApi()
    const ask = async (count: number) => {
      for (let i = 0; i < count; i++) {
        await api.handle(`M${i}`, `/evil/${i}`)
        await api.handle('GET', `/apis/g${i}/v${i}/r${i}/n${i}/s${i}?dryRun=${i}`)
        await api.handle('GET', `${nodes}/n${i}/s${i}`)
      }
      return (await api.page()).split('\n').length
    }
    await ask(10)
    assert.equal(await ask(1000), await ask(10))
  })

  it('is not served to whom RBAC does not allow it', async t => {
    const cluster = await metricCluster(t)
    const stranger = await cluster.as('stranger')
    await assert.rejects(stranger.raw('/metrics'), /User "stranger" cannot get path "\/metrics"/)
  })

  it('observes the life left in client certificates', async t => {
    const cluster = await metricCluster(t)
    await cluster.admin.list(resources.nodes)
    const page = await cluster.admin.raw('/metrics')
    const counted = /apiserver_client_certificate_expiration_seconds_count (\d+)/.exec(page)?.[1]
    assert.ok(Number(counted) > 0)
    assert.match(page, /apiserver_client_certificate_expiration_seconds_bucket{le="1800"} 0\n/)
  })
})

async function metricCluster(t: TestContext) {
  const cluster = await startEmbeddedCluster(silentLog, { metrics: createApiMetrics(new Registry()) })
  t.after(() => cluster.close())
  return cluster
}

describe('A-11: durations that were asked for', () => {
  /** The page after a certificate of so many seconds was written to a request that asked for so many. */
  async function issued(asked: number | undefined, given: number, signerName: string): Promise<string> {
    const clock = createManualClock(start)
    const store = createMemoryStore({ clock })
    const api = smallApi({ clock, store, metrics: createApiMetrics(new Registry()) })
    const authority = await createTestAuthority(seededRandom(1))
    const template = {
      commonName: 'system:node:a',
      organizations: [],
      dnsNames: [],
      ipAddresses: [],
      usages: ['client auth'],
      signerName,
    }
    const lifetime = { notBefore: start, notAfter: start + given * 1000 }
    const { chain } = await authority.issue(template, lifetime)
    const { certificateSigningRequests: ref } = resources
    const csr: CertificateSigningRequest = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'a' },
      spec: {
        request: '',
        signerName,
        usages: [],
        username: 'u',
        ...(asked && { expirationSeconds: asked }),
      },
    }
    const key = keyOf(ref, '', 'a')
    await store.write({ key, expect: 0, value: encodeObject(ref, csr) })
    const withCertificate = { ...csr, status: { certificate: Buffer.from(chain).toString('base64') } }
    for (let write = 0; write < 2; write++) {
      const expect = store.get(key)?.modRevision ?? 0
      await store.write({ key, expect, value: encodeObject(ref, withCertificate) })
    }
    return textOf(await api.handle('GET', '/metrics'))
  }
  const client = 'kubernetes.io/kube-apiserver-client'
  const series = (what: string, name: string, count: number) =>
    `apiserver_certificates_registry_csr_${what}_duration_total{signerName="${name}"} ${count}\n`

  it('A-11 counts the first certificate only, as honoured when it lives about as long as asked', async () => {
    // 3600 s may be off by less than 300 + 180.
    const page = await issued(3600, 3600 + 479, client)
    assert.ok(page.includes(series('requested', client, 1)))
    assert.ok(page.includes(series('honored', client, 1)))
  })

  it('A-11 does not count as honoured what is cut short', async () => {
    const page = await issued(3600, 3600 - 480, client)
    assert.ok(page.includes(series('requested', client, 1)))
    assert.doesNotMatch(page, /csr_honored_duration_total{/)
  })

  it('A-11 names only signers of kubernetes.io', async () => {
    assert.ok((await issued(3600, 3600, 'example.com/x')).includes(series('requested', 'other', 1)))
  })

  it('A-11 counts nothing when no duration was asked for', async () => {
    assert.doesNotMatch(await issued(undefined, 3600, client), /csr_requested_duration_total{/)
  })
})
