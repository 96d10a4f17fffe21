/** On real files, against the real HTTP server of the embedded API. */
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { serve } from '../apiserver/http/server.ts'
import { lookAtTls } from '../cluster/look-at-tls.ts'
import { systemDisk } from '../host/disk.ts'
import { generateSigner, type PrivateKeySigner } from '../keys/private-key.ts'
import { Secret } from '../keys/secret.ts'
import { issueCertificate } from '../keys/self-signed.ts'
import { encodeTokenKey } from '../keys/token-key.ts'
import { encodeKubeconfig } from '../kube/encode-kubeconfig.ts'
import { connectUndici } from '../kube/undici-transport.ts'
import { silentLog } from '../ports.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../testing/embedded-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signingAuthority } from '../testing/signing-authority.ts'
import { nameOf } from '../x509/name.ts'
import { oids } from '../x509/oid.ts'
import { allChecks } from './all-checks.ts'
import { diagnose, type Report } from './diagnose.ts'
import { gatherNode } from './gather/gather-node.ts'
import { serverCertificate } from './testing/examined-cluster.ts'

const hour = 3_600_000

interface NodeUnderTest {
  directory: string
  cluster: EmbeddedCluster
  /** Writes a pair file, PEM. */
  pair(kind: 'client' | 'server', of?: Partial<Pair>): Promise<string>
  link(kind: 'client' | 'server', target: string): Promise<void>
  kubeconfig(text: Secret): Promise<void>
  bootstrapWith(token: string | undefined): Promise<void>
  server: string
  examine(): Promise<Report>
  finds(id: string, also?: string[]): Promise<Report>
  path(name: string): string
}

interface Pair {
  /** Hours from now. */
  from: number
  to: number
  key: PrivateKeySigner
  name: string
  text(chain: string, key: string): string
  mode: number
}

const key = generateSigner('Ed25519', seededRandom(81))

/** A node in order: a client pair behind its link, a kubeconfig that names it, a bootstrap kubeconfig with a good token. */
function onNode(name: string, run: (node: NodeUnderTest) => Promise<void>): void {
  test(name, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rollcall-doctor-'))
    const cluster = await startEmbeddedCluster()
    const chain = await serverCertificate(cluster, { ips: ['127.0.0.1'], key, notBefore: 0, notAfter: 4e12 })
    const { api, clock } = cluster
    const tls = { chain, key: key.exportPem(), clientCertificateAuthorities: cluster.ca.pem }
    const running = await serve({ api, port: 0, host: '127.0.0.1', tls: tlsOf(tls), clock, log: silentLog })
    try {
      const node = nodeIn(directory, cluster, `https://127.0.0.1:${running.port}`)
      await node.link('client', await node.pair('client'))
      await node.kubeconfig(kubeconfigOf(node, node.path('kubelet-client-current.pem')))
      await node.bootstrapWith('abcdef.0123456789abcdef')
      await run(node)
    } finally {
      await running.close()
      await cluster.close()
      await rm(directory, { recursive: true })
    }
  })
}

function nodeIn(directory: string, cluster: EmbeddedCluster, server: string): NodeUnderTest {
  const path = (name: string) => join(directory, name)
  const now = cluster.clock.now()
  const files = {
    certDirectory: directory,
    kubeconfig: path('kubeconfig'),
    bootstrapKubeconfig: path('bootstrap.kubeconfig'),
    kubeletConfig: path('config.yaml'),
  }
  const examine = async () =>
    diagnose(
      directory,
      await gatherNode(files, { disk: systemDisk, connect: connectUndici, lookAtTls }),
      cluster.clock.now(),
      allChecks,
    )
  return {
    directory,
    cluster,
    server,
    path,
    examine,
    async pair(kind, of = {}) {
      const { from = -1, to = 23, name = `kubelet-${kind}-2026-03-01-12-00-00.pem`, mode = 0o600 } = of
      const chain = await issueCertificate({
        ca: cluster.ca,
        subject: nameOf({ commonName: 'system:node:worker-1', organizations: ['system:nodes'] }),
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
    async finds(id, also = []) {
      const report = await examine()
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

function kubeconfigOf({ server, cluster }: NodeUnderTest, file: string): Secret {
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

onNode('a node in order gives no finding', async node => {
  const report = await node.examine()
  assert.deepEqual(report.findings, [])
  assert.deepEqual(
    report.checks.filter(({ status }) => status === 'SKIP'),
    [],
  )
})

onNode('A01: the API does not know the bootstrap token any more', async node => {
  await node.bootstrapWith('abcdef.wrongwrongwrongw')
  const { findings } = await node.finds('A01')
  assert.match(findings[0]?.evidence[0]?.value ?? '', /^401 /)
  assert.ok(!JSON.stringify(findings).includes('wrongwrong'), 'the token is not shown')
})

onNode('A10: an expired certificate and no bootstrap kubeconfig', async node => {
  await node.pair('client', { from: -48, to: -24 })
  await rm(node.path('bootstrap.kubeconfig'))
  const report = await node.finds('A10')
  assert.deepEqual(report.explained, [{ id: 'E11', by: 'A10', count: 1 }])
})

onNode('A15: a bootstrap kubeconfig without a credential', async node => {
  await node.bootstrapWith(undefined)
  await node.finds('A15')
})

onNode('E01: a link that leads nowhere', async node => {
  await node.link('client', 'kubelet-client-2026-01-01-00-00-00.pem')
  const report = await node.finds('E01')
  assert.deepEqual(report.explained, [{ id: 'E21', by: 'E01', count: 1 }])
})

onNode('E02: a file in place of the link', async node => {
  await rm(node.path('kubelet-client-current.pem'))
  await node.pair('client', { name: 'kubelet-client-current.pem' })
  await node.finds('E02')
})

onNode('E03: a link that a crash left behind', async node => {
  await symlink('kubelet-client-2026-03-01-12-00-00.pem', node.path('kubelet-client-updated.pem'))
  await node.finds('E03')
})

onNode('E04: an empty file, and one without its key', async node => {
  await node.pair('client', { text: () => '' })
  await node.finds('E04')
  await node.pair('client', { text: chain => chain })
  await node.finds('E04')
})

onNode('E05: the key of another pair', async node => {
  await node.pair('client', { key: generateSigner('Ed25519', seededRandom(83)) })
  await node.finds('E05')
})

onNode('a pair whose key is in a token is in order', async node => {
  const [label, id] = ['rollcall/n1/client/1', Uint8Array.of(1)]
  await node.pair('client', {
    text: chain => `${chain}${encodeTokenKey({ label, id, spki: key.publicKey }).reveal()}`,
  })
  const { findings } = await node.examine()
  assert.deepEqual(
    findings.filter(({ id }) => id.startsWith('E')),
    [],
  )
})

onNode('E07: a key that everybody may read', async node => {
  await node.pair('client', { mode: 0o644 })
  const { findings } = await node.finds('E07')
  assert.match(findings[0]?.evidence[0]?.value ?? '', /mode 0644/)
})

onNode('E08: pairs that nobody deletes', async node => {
  for (let n = 10; n < 32; n++)
    await node.pair('server', { name: `kubelet-server-2026-03-01-12-00-${n}.pem` })
  await node.finds('E08')
})

onNode('E09: a kubeconfig with an old certificate in it', async node => {
  const old = await node.pair('client', {
    from: -48,
    to: -24,
    name: 'kubelet-client-2026-02-01-00-00-00.pem',
  })
  await node.kubeconfig(kubeconfigOf(node, node.path(old)))
  const report = await node.finds('E09')
  assert.deepEqual(report.explained, [{ id: 'E11', by: 'E09', count: 1 }])
})

onNode('E11: the current certificate has expired, the bootstrap token is good', async node => {
  await node.pair('client', { from: -48, to: -24 })
  await node.finds('E11')
})

onNode('E12: a certificate from a clock that is ahead', async node => {
  await node.pair('client', { from: 1, to: 25 })
  await node.finds('E12')
})

onNode('E18: a renewal that is overdue', async node => {
  await node.pair('client', { from: -23.5, to: 0.5 })
  await node.finds('E18')
})

onNode('E21: a kubeconfig that names files that are gone', async node => {
  await rm(node.path('kubelet-client-current.pem'))
  await node.finds('E21')
})

onNode('G07: the serving certificate on the disk has expired', async node => {
  await node.link('server', await node.pair('server', { from: -48, to: -24 }))
  await node.finds('G07')
})

onNode('I02: a CA in the kubeconfig that the API server does not chain to', async node => {
  const other = await signingAuthority(node.cluster.clock.now(), 84)
  const file = node.path('kubelet-client-current.pem')
  const text = encodeKubeconfig({
    server: node.server,
    certificateAuthority: { pem: other.pem },
    user: { clientCertificate: { file }, clientKey: { file } },
  })
  await node.kubeconfig(text)
  await node.finds('I02')
})

const kubeletConfig = (lines: string) =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${lines}`

onNode('A12: a server that nothing listens at', async node => {
  const file = node.path('kubelet-client-current.pem')
  const user = { clientCertificate: { file }, clientKey: { file } }
  await node.kubeconfig(encodeKubeconfig({ server: 'https://127.0.0.1:1', user }))
  const { findings } = await node.finds('A12')
  assert.match(findings[0]?.evidence[0]?.value ?? '', /ECONNREFUSED/)
})

onNode("A16: an administrator's certificate to join with", async node => {
  const pem = await issueCertificate({
    ca: node.cluster.ca,
    subject: nameOf({ commonName: 'kubernetes-admin', organizations: ['kubeadm:cluster-admins'] }),
    spki: key.publicKey,
    notBefore: node.cluster.clock.now() - hour,
    notAfter: node.cluster.clock.now() + hour,
    random: seededRandom(85),
    extensions: { extendedKeyUsage: [oids.clientAuth] },
  })
  const user = { clientCertificate: { pem }, clientKey: { pem: key.exportPem() } }
  const text = encodeKubeconfig({
    server: node.server,
    certificateAuthority: { pem: node.cluster.ca.pem },
    user,
  })
  await writeFile(node.path('bootstrap.kubeconfig'), text.reveal())
  await node.finds('A16')
})

onNode('A19: a kubelet that bootstraps before its static pods', async node => {
  await writeFile(node.path('config.yaml'), kubeletConfig('serverTLSBootstrap: true\n'))
  const report = await node.finds('A19')
  assert.deepEqual(report.explained, [{ id: 'E17', by: 'A19', count: 1 }])
})

onNode('E17: a kubelet that does not rotate', async node => {
  await writeFile(
    node.path('config.yaml'),
    kubeletConfig('serverTLSBootstrap: true\nrotateCertificates: false\n'),
  )
  await rm(node.path('bootstrap.kubeconfig'))
  await node.finds('E17')
})

onNode('B12, B11: two serving certificates, or one that is signed by itself', async node => {
  const both = 'rotateCertificates: true\nserverTLSBootstrap: true\ntlsCertFile: /etc/k.crt\n'
  await writeFile(node.path('config.yaml'), kubeletConfig(both))
  await node.finds('B12')
  await writeFile(node.path('config.yaml'), kubeletConfig('rotateCertificates: true\n'))
  await node.finds('B11')
  await writeFile(node.path('config.yaml'), 'hello')
  const report = await node.examine()
  assert.equal(report.checks.find(({ id }) => id === 'E17')?.status, 'SKIP', 'what cannot be read is not OK')
})

test('A18: a certificate directory that a reboot empties', () => {
  const check = allChecks.find(({ meta }) => meta.id === 'A18')
  assert.equal(
    check?.views[0]?.audit({ certDirectory: { path: '/run/kubelet/pki', files: [] } }, 0).length,
    1,
  )
  const path = '/var/lib/kubelet/pki'
  assert.equal(check?.views[0]?.audit({ certDirectory: { path, files: [] } }, 0).length, 0)
})
