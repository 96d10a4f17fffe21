/** What only a log tells: the answers are the API's own, the log is a real file. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { RollcallError } from '../errors.ts'
import { systemDisk } from '../host/disk.ts'
import { waitForCertificate } from '../join/wait-for-certificate.ts'
import { generateSigner } from '../keys/private-key.ts'
import { type CertificateSigningRequest, resources, signerNames } from '../kube/types.ts'
import { calm } from '../testing/controlled-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signedRequest } from '../testing/signed-request.ts'
import type { Report } from './diagnose.ts'
import { exitCodeOf } from './diagnose.ts'
import { readLogs } from './gather/logs.ts'
import { type ExaminedCluster, judged, onQuietCluster } from './testing/examined-cluster.ts'

const csrs = resources.certificateSigningRequests
const signer = generateSigner('ECDSA-P256', seededRandom(31))

/** The report with a log of these lines; exactly this id is found. */
async function toldBy(cluster: ExaminedCluster, id: string, lines: readonly string[]): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-log-'))
  try {
    const log = join(folder, 'kubelet.log')
    await writeFile(log, ['I0301 12:00:00.000001       1 server.go:1] Started', ...lines, ''].join('\n'))
    const logLines = await readLogs([log], systemDisk)
    return judged(cluster.judge({ ...(await cluster.gather()), logLines }), id)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A request as a careless tool makes it, and the line that the tool would log for the answer. */
async function refusal(
  cluster: ExaminedCluster,
  spec: Partial<CertificateSigningRequest['spec']>,
): Promise<string> {
  const pem = await signedRequest({
    signer,
    commonName: 'system:node:worker-1',
    organizations: ['system:nodes'],
  })
  const asking = cluster.bootstrapper.create<CertificateSigningRequest>(csrs, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'careless' },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: signerNames.kubeletClient,
      usages: ['digital signature', 'client auth'],
      ...spec,
    },
  })
  return asking.then(
    () => assert.fail('the API took it'),
    (error: Error) => logged(error.message),
  )
}

const logged = (message: string) =>
  `2026-03-01T12:00:01Z stderr F E0301 12:00:01.000000       1 certificate_manager.go:1] "Failed" err="${message}"`

test(
  'B06: a request for five minutes',
  onQuietCluster(async cluster => {
    const { findings } = await toldBy(cluster, 'B06', [await refusal(cluster, { expirationSeconds: 300 })])
    assert.equal(findings[0]?.evidence[0]?.at, '2026-03-01T12:00:01Z')
    assert.match(findings[0]?.evidence[0]?.source ?? '', /kubelet\.log$/)
  }),
)

test(
  'B07: usages that are missing, unknown, or there twice',
  onQuietCluster(async cluster => {
    for (const usages of [[], ['client auth', 'fly'], ['client auth', 'client auth']])
      await toldBy(cluster, 'B07', [await refusal(cluster, { usages })])
  }),
)

test(
  'B08: a request in the wrong PEM block, and one whose signature is broken',
  onQuietCluster(async cluster => {
    const pem = await signedRequest({ signer, commonName: 'system:node:worker-1' })
    const renamed = pem.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST')
    const other = Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64')
    other[other.length - 1] = (other.at(-1) ?? 0) ^ 1
    const body = other.toString('base64')
    const broken = `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`
    for (const text of [renamed, broken])
      await toldBy(cluster, 'B08', [
        await refusal(cluster, { request: Buffer.from(text).toString('base64') }),
      ])
  }),
)

test(
  'B09: the words of a kubelet that finds its name taken',
  onQuietCluster(async cluster => {
    await toldBy(cluster, 'B09', [logged('retrieved csr is not compatible: csr subjects differ')])
  }),
)

test(
  'C12: a request that is deleted while its node waits',
  onQuietCluster(async cluster => {
    const { admin, clock } = cluster
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'worker-1' })
    const created = await cluster.read(name)
    const waiting = waitForCertificate({
      created,
      client: admin,
      clock,
      random: seededRandom(1),
      patience: 60_000,
    })
    const line = waiting.then(
      () => assert.fail('it was answered'),
      (error: Error) => logged(error.message),
    )
    await calm()
    await admin.delete(csrs, { name })
    await toldBy(cluster, 'C12', [await line])
    await toldBy(cluster, 'C12', [logged('csr "csr-7" was deleted')])
  }),
)

test(
  'C13: a decision that a tool tries to take back is no fault of the cluster',
  onQuietCluster(async cluster => {
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'worker-1' })
    await cluster.decide(name, 'Denied', 'KubectlDeny')
    const line = await cluster.decide(name, 'Approved', 'KubectlApprove').then(
      () => assert.fail('the API took it'),
      (error: Error) => logged(error.message),
    )
    await cluster.admin.delete(csrs, { name })
    const report = await toldBy(cluster, 'C13', [line])
    assert.equal(report.findings[0]?.severity, 'info')
    assert.equal(exitCodeOf(report), 0)
  }),
)

const kubelet = {
  rotating: 'I0301 12:00:00.000002 1 certificate_manager.go:566] "Rotating certificates"',
  renewed: 'I0301 12:00:02.000003 1 certificate_manager.go:356] "Certificate rotation deadline determined"',
  reconnected:
    'I0301 12:00:05.000004 1 transport.go:147] "Certificate rotation detected, shutting down client connections to start using new credentials"',
  refused:
    'E0301 12:00:09.000005 1 reflector.go:150] "Failed to watch" err="failed to list *v1.Node: Unauthorized"',
}

test(
  'E16: a kubelet that renewed and did not connect anew',
  onQuietCluster(async cluster => {
    const { rotating, renewed, reconnected, refused } = kubelet
    await toldBy(cluster, 'E16', [rotating, renewed, refused])
    for (const well of [
      [rotating, renewed, reconnected, refused],
      [rotating, refused],
      [refused, rotating, renewed],
    ])
      await assert.rejects(toldBy(cluster, 'E16', well), /E16 is not found, but \[\]/)
  }),
)

test('a log that is not there is a usage error', async () => {
  await assert.rejects(
    readLogs(['/no/such.log'], systemDisk),
    (error: unknown) => error instanceof RollcallError && error.code === 'USAGE',
  )
})

test('of a log only its end and what tells something is kept, and no token', async () => {
  const line = 'Unauthorized for bearer token abcdef.0123456789abcdef'
  const text = [line, 'x'.repeat(17 * 1024 * 1024), 'nothing', line, ''].join('\n')
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-log-'))
  try {
    const log = join(folder, 'kubelet.log')
    await writeFile(log, text)
    const read = await readLogs([log], systemDisk)
    assert.deepEqual(read, {
      status: 'ok',
      value: [{ file: log, text: 'Unauthorized for bearer [secret]' }],
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
