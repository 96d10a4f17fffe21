/** The embedded API with a healthy fleet on it, to break in one way, and the doctor's view of it. */
import assert from 'node:assert/strict'
import { renewLease } from '../../agent/node-lease.ts'
import { lookAtTls } from '../../cluster/look-at-tls.ts'
import type { RunningControllers } from '../../controller/options.ts'
import { generateSigner } from '../../keys/private-key.ts'
import { issueCertificate } from '../../keys/self-signed.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../../kube/types.ts'
import { type ControlledCluster, calm, startControlledCluster } from '../../testing/controlled-cluster.ts'
import { ip } from '../../testing/judged-request.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { signedRequest } from '../../testing/signed-request.ts'
import { nameOf } from '../../x509/name.ts'
import { oids } from '../../x509/oid.ts'
import { decodePem } from '../../x509/pem.ts'
import { allChecks } from '../all-checks.ts'
import type { GatheredArtifacts } from '../artifacts/artifacts.ts'
import { diagnose, type Report } from '../diagnose.ts'
import { isLouder } from '../finding.ts'
import { type ClusterTarget, gatherCluster } from '../gather/gather-cluster.ts'

const server = 'https://cluster.example:6443'

export interface ExaminedCluster extends ControlledCluster {
  /** Ends what `start` began, so that nobody mends what the test breaks. */
  stopControllers(): Promise<void>
  /** A node with its Node, Lease and both certificates, as far as controllers run. */
  join(name: string, address: string): Promise<void>
  /** Its kubelet renews its Lease now. */
  beat(name: string): Promise<void>
  /** A request of another signer, which nobody looks at. */
  makeRequest(name: string): Promise<void>
  /** PEM chain of what the API server presents, and of what others do by their addresses. */
  serves: { chain: string; at: Map<string, string> }
  gather(changes?: Partial<ClusterTarget>): Promise<GatheredArtifacts>
  /** Judges artifacts: what was gathered, with something in the place of what cannot be made here. */
  judge(artifacts: GatheredArtifacts): Report
  examine(changes?: Partial<ClusterTarget>): Promise<Report>
  /** The report, after it was held to find exactly this id (and the named ones beside it), and nothing louder. */
  finds(id: string, also?: string[], changes?: Partial<ClusterTarget>): Promise<Report>
}

type Run = (cluster: ExaminedCluster) => Promise<void>

/** The body of a test with a cluster of its own, where nobody approves, signs or cleans up: only trust is published. */
export function onQuietCluster(run: Run): () => Promise<void> {
  return onCluster(async cluster => {
    await cluster.start({ only: ['root-ca-publishing', 'bootstrap-signing'] })
    await run(cluster)
  })
}

/** The body of a test with a cluster of its own, without controllers. */
export function onCluster(run: Run): () => Promise<void> {
  return async () => {
    const cluster = await startExaminedCluster()
    try {
      await run(cluster)
    } finally {
      await cluster.close()
    }
    assert.equal(cluster.clock.pending(), 0, 'timers are left')
  }
}

/** The body of a test with controllers and two nodes, all well. */
export function onFleet(run: Run): () => Promise<void> {
  return onCluster(async cluster => {
    await cluster.start()
    await cluster.join('worker-1', '10.0.0.11')
    await cluster.join('worker-2', '10.0.0.12')
    await run(cluster)
  })
}

export async function startExaminedCluster(): Promise<ExaminedCluster> {
  const cluster = await startControlledCluster()
  const { admin, clock } = cluster
  const serves: ExaminedCluster['serves'] = {
    chain: await serverCertificate(cluster, { dnsNames: ['cluster.example'] }),
    at: new Map(),
  }
  const target: ClusterTarget = { client: admin, server, probe: false }

  const gather: ExaminedCluster['gather'] = (changes = {}) =>
    gatherCluster(
      { ...target, ...changes },
      {
        clock,
        lookAtTls(where) {
          const chain = where.host === 'cluster.example' ? serves.chain : serves.at.get(where.host)
          return chain ? Promise.resolve({ ...where, chain: derOf(chain) }) : lookAtTls(where)
        },
      },
    )
  const judge: ExaminedCluster['judge'] = artifacts => diagnose(server, artifacts, clock.now(), allChecks)
  const examine: ExaminedCluster['examine'] = async changes => judge(await gather(changes))
  const beat: ExaminedCluster['beat'] = async name => {
    const { metadata } = await admin.get<KubeNode>(resources.nodes, { name })
    const facts = { nodeName: name, nodeUid: metadata.uid ?? '', durationSeconds: 40 }
    await renewLease(
      await cluster.node(name),
      undefined,
      facts,
      () => clock.now(),
      AbortSignal.timeout(60_000),
    )
  }

  const running: RunningControllers[] = []
  const stranger = generateSigner('Ed25519', seededRandom(51))
  const pem = await signedRequest({ signer: stranger, commonName: 'stranger' })
  const other = Buffer.from(pem).toString('base64')
  return {
    ...cluster,
    async start(changes) {
      const controllers = await cluster.start(changes)
      running.push(controllers)
      return controllers
    },
    async stopControllers() {
      await Promise.all(running.splice(0).map(controllers => controllers.stop()))
    },
    async makeRequest(name) {
      await admin.create<CertificateSigningRequest>(resources.certificateSigningRequests, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec: { request: other, signerName: 'example.com/other', usages: ['client auth'] },
      })
    },
    serves,
    gather,
    judge,
    examine,
    beat,
    async join(name, address) {
      await cluster.register(name, [
        ['InternalIP', address],
        ['Hostname', name],
      ])
      await beat(name)
      await cluster.ask({ by: cluster.bootstrapper, node: name })
      await cluster.ask({ by: await cluster.node(name), node: name, dns: [name], ips: [address] })
      await calm()
    },
    finds: async (id, also = [], changes = {}) => judged(await examine(changes), id, also),
  }
}

/** Holds a report to have found exactly this id (and the named ones beside it), and nothing louder. */
export function judged(report: Report, id: string, also: readonly string[] = []): Report {
  const found = report.findings.map(finding => `${finding.severity} ${finding.id} ${finding.cause}`)
  const own = report.findings.find(finding => finding.id === id)
  assert.ok(own, `${id} is not found, but ${JSON.stringify(found, null, 2)}`)
  const louder = report.findings.filter(({ severity }) => isLouder(severity, own.severity))
  assert.deepEqual(louder, [], 'something is louder')
  const ids = new Set(report.findings.map(finding => finding.id))
  assert.deepEqual([...ids].sort(), [id, ...also].sort(), JSON.stringify(found, null, 2))
  return report
}

/** A serving certificate of the cluster's CA; PEM. Times in milliseconds since the epoch. */
export function serverCertificate(
  { ca, clock }: Pick<ControlledCluster, 'ca' | 'clock'>,
  of: {
    commonName?: string
    dnsNames?: string[]
    ips?: string[]
    notBefore?: number
    notAfter?: number
    key?: { publicKey: Uint8Array }
  },
): Promise<string> {
  const random = seededRandom(21)
  const { publicKey } = of.key ?? generateSigner('Ed25519', random)
  return issueCertificate({
    ca,
    subject: nameOf({ commonName: of.commonName ?? 'kube-apiserver' }),
    spki: publicKey,
    notBefore: of.notBefore ?? clock.now() - 300_000,
    notAfter: of.notAfter ?? clock.now() + 365 * 86_400_000,
    random,
    extensions: {
      keyUsage: ['digitalSignature'],
      extendedKeyUsage: [oids.serverAuth],
      subjectAltName: { dnsNames: of.dnsNames ?? [], ipAddresses: (of.ips ?? []).map(ip) },
    },
  })
}

export const derOf = (pem: string) => decodePem(pem).map(({ bytes }) => Buffer.from(bytes).toString('base64'))
