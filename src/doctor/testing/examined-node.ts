/** A node as files in a folder, and the real HTTP server of the embedded API beside it. */
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '../../apiserver/http/server.ts'
import { lookAtTls } from '../../cluster/look-at-tls.ts'
import { systemClock } from '../../host/clock.ts'
import { systemDisk } from '../../host/disk.ts'
import { systemMachine } from '../../host/machine.ts'
import { systemSpawn } from '../../host/spawn.ts'
import { generateSigner, type PrivateKeySigner } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import { issueCertificate } from '../../keys/self-signed.ts'
import { encodeKubeconfig } from '../../kube/encode-kubeconfig.ts'
import { connectUndici } from '../../kube/undici-transport.ts'
import { silentLog } from '../../ports.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../testing/embedded-cluster.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { nameOf } from '../../x509/name.ts'
import { oids } from '../../x509/oid.ts'
import { allChecks } from '../all-checks.ts'
import { diagnose, type Report } from '../diagnose.ts'
import { gatherNode, type NodeFiles } from '../gather/gather-node.ts'
import type { Machine } from '../gather/machine.ts'
import { serverCertificate } from './examined-cluster.ts'

export const hour = 3_600_000

export interface NodeUnderTest {
  directory: string
  cluster: EmbeddedCluster
  /** Writes a pair file, PEM. */
  pair(kind: 'client' | 'server', of?: Partial<Pair>): Promise<string>
  link(kind: 'client' | 'server', target: string): Promise<void>
  kubeconfig(text: Secret): Promise<void>
  bootstrapWith(token: string | undefined): Promise<void>
  server: string
  /** PEM of what the server presents. */
  chain: string
  examine(changes?: Partial<NodeFiles>): Promise<Report>
  finds(id: string, also?: string[], changes?: Partial<NodeFiles>): Promise<Report>
  path(name: string): string
}

interface Pair {
  /** Hours from now. */
  from: number
  to: number
  key: PrivateKeySigner
  name: string
  /** That the subject names. */
  node: string
  text(chain: string, key: string): string
  mode: number
}

export const key = generateSigner('Ed25519', seededRandom(81))

/** The body of a test on a node in order: a client pair behind its link, a kubeconfig that names it, a bootstrap kubeconfig with a good token. */
export function onNode(run: (node: NodeUnderTest) => Promise<void>): () => Promise<void> {
  return async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rollcall-doctor-'))
    const cluster = await startEmbeddedCluster()
    const chain = await serverCertificate(cluster, { ips: ['127.0.0.1'], key, notBefore: 0, notAfter: 4e12 })
    const { api, clock } = cluster
    const tls = { chain, key: key.exportPem(), clientCertificateAuthorities: cluster.ca.pem }
    const running = await serve({ api, port: 0, host: '127.0.0.1', tls: tlsOf(tls), clock, log: silentLog })
    try {
      const node = nodeIn(directory, cluster, `https://127.0.0.1:${running.port}`, chain)
      await node.link('client', await node.pair('client'))
      await node.kubeconfig(kubeconfigOf(node, node.path('kubelet-client-current.pem')))
      await node.bootstrapWith('abcdef.0123456789abcdef')
      await run(node)
    } finally {
      await running.close()
      await cluster.close()
      await rm(directory, { recursive: true })
    }
  }
}

function nodeIn(directory: string, cluster: EmbeddedCluster, server: string, chain: string): NodeUnderTest {
  const path = (name: string) => join(directory, name)
  const now = cluster.clock.now()
  const files = {
    certDirectory: directory,
    kubeconfig: path('kubeconfig'),
    bootstrapKubeconfig: path('bootstrap.kubeconfig'),
    kubeletConfig: path('config.yaml'),
    kubeletFlags: path('kubeadm-flags.env'),
    signing: { certificate: path('ca.crt'), key: path('ca.key') },
  }
  const machine: Machine = { ...systemMachine, hostname: () => 'Worker-1' }
  const plugins = { spawn: systemSpawn, clock: systemClock, environment: {} }
  const ports = { disk: systemDisk, connect: connectUndici, lookAtTls, machine, plugins }
  const examine = async (changes: Partial<NodeFiles> = {}) =>
    diagnose(directory, await gatherNode({ ...files, ...changes }, ports), cluster.clock.now(), allChecks)
  return {
    directory,
    cluster,
    server,
    chain,
    path,
    examine,
    async pair(kind, of = {}) {
      const { from = -1, to = 23, name = `kubelet-${kind}-2026-03-01-12-00-00.pem`, mode = 0o600 } = of
      const chain = await issueCertificate({
        ca: cluster.ca,
        subject: nameOf({
          commonName: `system:node:${of.node ?? 'worker-1'}`,
          organizations: ['system:nodes'],
        }),
        spki: key.publicKey,
        notBefore: now + from * hour,
        notAfter: now + to * hour,
        random: seededRandom(82),
        extensions: { extendedKeyUsage: [kind === 'client' ? oids.clientAuth : oids.serverAuth] },
      })
      const text = of.text ?? ((certificate, pem) => certificate + pem)
      await writeFile(path(name), text(chain, (of.key ?? key).exportPem().reveal()), { mode })
      await chmod(path(name), mode)
      return name
    },
    async link(kind, target) {
      await rm(path(`kubelet-${kind}-current.pem`), { force: true })
      await symlink(target, path(`kubelet-${kind}-current.pem`))
    },
    kubeconfig: text => writeFile(files.kubeconfig, text.reveal()),
    bootstrapWith(token) {
      const text = encodeKubeconfig({
        server,
        certificateAuthority: { pem: cluster.ca.pem },
        user: { token: new Secret(token ?? '') },
      }).reveal()
      return writeFile(files.bootstrapKubeconfig, text)
    },
    async finds(id, also = [], changes = {}) {
      const report = await examine(changes)
      const ids = report.findings.map(finding => finding.id)
      assert.deepEqual(
        [...new Set(ids)].sort(),
        [id, ...also].sort(),
        JSON.stringify(report.findings, null, 2),
      )
      return report
    },
  }
}

export function kubeconfigOf({ server, cluster }: NodeUnderTest, file: string): Secret {
  return encodeKubeconfig({
    server,
    certificateAuthority: { pem: cluster.ca.pem },
    user: { clientCertificate: { file }, clientKey: { file } },
  })
}

function tlsOf(tls: { chain: string; key: Secret; clientCertificateAuthorities: string }) {
  return {
    certificate: tls.chain,
    key: tls.key,
    clientCertificateAuthorities: tls.clientCertificateAuthorities,
  }
}

export const kubeletConfig = (lines: string) =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${lines}`
