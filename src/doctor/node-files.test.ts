/** On real files, against the real HTTP server of the embedded API. */
import assert from 'node:assert/strict'
import { rm, symlink, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { generateSigner } from '../keys/private-key.ts'
import { issueCertificate } from '../keys/self-signed.ts'
import { encodeTokenKey } from '../keys/token-key.ts'
import { encodeKubeconfig } from '../kube/encode-kubeconfig.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signingAuthority } from '../testing/signing-authority.ts'
import { nameOf } from '../x509/name.ts'
import { oids } from '../x509/oid.ts'
import { allChecks } from './all-checks.ts'
import { hour, key, kubeconfigOf, kubeletConfig, onNode } from './testing/examined-node.ts'

test(
  'a node in order gives no finding',
  onNode(async node => {
    const report = await node.examine()
    assert.deepEqual(report.findings, [])
    assert.deepEqual(
      report.checks.filter(({ status }) => status === 'SKIP'),
      [],
    )
  }),
)

test(
  'A01: the API does not know the bootstrap token any more',
  onNode(async node => {
    await node.bootstrapWith('abcdef.wrongwrongwrongw')
    const { findings } = await node.finds('A01')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /^401 /)
    assert.ok(!JSON.stringify(findings).includes('wrongwrong'), 'the token is not shown')
  }),
)

test(
  'A10: an expired certificate and no bootstrap kubeconfig',
  onNode(async node => {
    await node.pair('client', { from: -48, to: -24 })
    await rm(node.path('bootstrap.kubeconfig'))
    const report = await node.finds('A10')
    assert.deepEqual(report.explained, [{ id: 'E11', by: 'A10', count: 1 }])
  }),
)

test(
  'A15: a bootstrap kubeconfig without a credential',
  onNode(async node => {
    await node.bootstrapWith(undefined)
    await node.finds('A15')
  }),
)

test(
  'E01: a link that leads nowhere',
  onNode(async node => {
    await node.link('client', 'kubelet-client-2026-01-01-00-00-00.pem')
    const report = await node.finds('E01')
    assert.deepEqual(report.explained, [{ id: 'E21', by: 'E01', count: 1 }])
  }),
)

test(
  'E02: a file in place of the link',
  onNode(async node => {
    await rm(node.path('kubelet-client-current.pem'))
    await node.pair('client', { name: 'kubelet-client-current.pem' })
    await node.finds('E02')
  }),
)

test(
  'E03: a link that a crash left behind',
  onNode(async node => {
    await symlink('kubelet-client-2026-03-01-12-00-00.pem', node.path('kubelet-client-updated.pem'))
    await node.finds('E03')
  }),
)

test(
  'E04: an empty file, and one without its key',
  onNode(async node => {
    await node.pair('client', { text: () => '' })
    await node.finds('E04')
    await node.pair('client', { text: chain => chain })
    await node.finds('E04')
  }),
)

test(
  'E05: the key of another pair',
  onNode(async node => {
    await node.pair('client', { key: generateSigner('Ed25519', seededRandom(83)) })
    await node.finds('E05')
  }),
)

test(
  'a pair whose key is in a token is in order',
  onNode(async node => {
    const [label, id] = ['rollcall/n1/client/1', Uint8Array.of(1)]
    await node.pair('client', {
      text: chain => `${chain}${encodeTokenKey({ label, id, spki: key.publicKey }).reveal()}`,
    })
    const { findings } = await node.examine()
    assert.deepEqual(
      findings.filter(({ id }) => id.startsWith('E')),
      [],
    )
  }),
)

test(
  'E07: a key that everybody may read',
  onNode(async node => {
    await node.pair('client', { mode: 0o644 })
    const { findings } = await node.finds('E07')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /mode 0644/)
  }),
)

test(
  'E08: pairs that nobody deletes',
  onNode(async node => {
    for (let n = 10; n < 32; n++)
      await node.pair('server', { name: `kubelet-server-2026-03-01-12-00-${n}.pem` })
    await node.finds('E08')
  }),
)

test(
  'E09: a kubeconfig with an old certificate in it',
  onNode(async node => {
    const old = await node.pair('client', {
      from: -48,
      to: -24,
      name: 'kubelet-client-2026-02-01-00-00-00.pem',
    })
    await node.kubeconfig(kubeconfigOf(node, node.path(old)))
    const report = await node.finds('E09')
    assert.deepEqual(report.explained, [{ id: 'E11', by: 'E09', count: 1 }])
  }),
)

test(
  'E11: the current certificate has expired, the bootstrap token is good',
  onNode(async node => {
    await node.pair('client', { from: -48, to: -24 })
    await node.finds('E11')
  }),
)

test(
  'E12: a certificate from a clock that is ahead',
  onNode(async node => {
    await node.pair('client', { from: 1, to: 25 })
    await node.finds('E12')
  }),
)

test(
  'E18: a renewal that is overdue',
  onNode(async node => {
    await node.pair('client', { from: -23.5, to: 0.5 })
    await node.finds('E18')
  }),
)

test(
  'E21: a kubeconfig that names files that are gone',
  onNode(async node => {
    await rm(node.path('kubelet-client-current.pem'))
    await node.finds('E21')
  }),
)

test(
  'G07: the serving certificate on the disk has expired',
  onNode(async node => {
    await node.link('server', await node.pair('server', { from: -48, to: -24 }))
    await node.finds('G07')
  }),
)

test(
  'I02: report 23: a CA in the kubeconfig that the API server does not chain to',
  onNode(async node => {
    const other = await signingAuthority(node.cluster.clock.now(), 84)
    const file = node.path('kubelet-client-current.pem')
    const text = encodeKubeconfig({
      server: node.server,
      certificateAuthority: { pem: other.pem },
      user: { clientCertificate: { file }, clientKey: { file } },
    })
    await node.kubeconfig(text)
    await node.finds('I02')
  }),
)

test(
  'A12: a server that nothing listens at',
  onNode(async node => {
    const file = node.path('kubelet-client-current.pem')
    const user = { clientCertificate: { file }, clientKey: { file } }
    await node.kubeconfig(encodeKubeconfig({ server: 'https://127.0.0.1:1', user }))
    const { findings } = await node.finds('A12')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /ECONNREFUSED/)
  }),
)

test(
  "A16: an administrator's certificate to join with",
  onNode(async node => {
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
  }),
)

test(
  'A19: a kubelet that bootstraps before its static pods',
  onNode(async node => {
    await writeFile(node.path('config.yaml'), kubeletConfig('serverTLSBootstrap: true\n'))
    const report = await node.finds('A19')
    assert.deepEqual(report.explained, [{ id: 'E17', by: 'A19', count: 1 }])
  }),
)

test(
  'E17: report 27: a kubelet that does not rotate',
  onNode(async node => {
    await writeFile(
      node.path('config.yaml'),
      kubeletConfig('serverTLSBootstrap: true\nrotateCertificates: false\n'),
    )
    await rm(node.path('bootstrap.kubeconfig'))
    await node.finds('E17')
  }),
)

test(
  'B12, B11: two serving certificates, or one that is signed by itself',
  onNode(async node => {
    const both = 'rotateCertificates: true\nserverTLSBootstrap: true\ntlsCertFile: /etc/k.crt\n'
    await writeFile(node.path('config.yaml'), kubeletConfig(both))
    await node.finds('B12')
    await writeFile(node.path('config.yaml'), kubeletConfig('rotateCertificates: true\n'))
    await node.finds('B11')
    await writeFile(node.path('config.yaml'), 'hello')
    const report = await node.examine()
    assert.equal(
      report.checks.find(({ id }) => id === 'E17')?.status,
      'SKIP',
      'what cannot be read is not OK',
    )
  }),
)

test('A18: a certificate directory that a reboot empties', () => {
  const check = allChecks.find(({ meta }) => meta.id === 'A18')
  assert.equal(
    check?.views[0]?.audit({ certDirectory: { path: '/run/kubelet/pki', files: [] } }, 0).length,
    1,
  )
  const path = '/var/lib/kubelet/pki'
  assert.equal(check?.views[0]?.audit({ certDirectory: { path, files: [] } }, 0).length, 0)
})
