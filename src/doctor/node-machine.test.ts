/** What a node is called, what its disk and its token say; on real files, against the real API. */
import assert from 'node:assert/strict'
import { chmod, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { serve } from '../apiserver/http/server.ts'
import { publishClusterInfo } from '../cluster/cluster-info.ts'
import { Secret } from '../keys/secret.ts'
import { issueCertificate } from '../keys/self-signed.ts'
import { encodeKubeconfig } from '../kube/encode-kubeconfig.ts'
import { type ConfigMap, resources } from '../kube/types.ts'
import { silentLog } from '../ports.ts'
import { calm } from '../testing/controlled-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signingAuthority } from '../testing/signing-authority.ts'
import { startBootstrapSigner } from '../trust/bootstrap-signer.ts'
import { type Certificate, parseCertificatesPem } from '../x509/certificate.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { nameOf } from '../x509/name.ts'
import { oids } from '../x509/oid.ts'
import { allChecks } from './all-checks.ts'
import {
  hour,
  key,
  kubeconfigOf,
  kubeletConfig,
  type NodeUnderTest,
  onNode,
} from './testing/examined-node.ts'

/** Runs `work` while cluster-info is signed by every token that lives, as in a cluster. */
async function whileSigning({ cluster }: NodeUnderTest, work: () => Promise<void>): Promise<void> {
  const { admin: client, clock } = cluster
  const target = { name: 'cluster-info', namespace: 'kube-public' }
  await client
    .create<ConfigMap>(resources.configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: target,
      data: { kubeconfig: 'clusters: []\n' },
    })
    .catch(() => undefined)
  const signer = startBootstrapSigner({ client, clock, random: seededRandom(5), log: silentLog })
  try {
    await calm()
    await work()
  } finally {
    await signer.stop()
  }
}

test(
  'A02: report 34: a token of that id lives, with another secret; it is shown nowhere',
  onNode(async node => {
    await node.bootstrapWith('abcdef.wrongwrongwrongw')
    await whileSigning(node, async () => {
      const report = await node.finds('A02')
      assert.deepEqual(report.explained, [{ id: 'A01', by: 'A02', count: 1 }])
      assert.ok(!JSON.stringify(report).includes('wrongwrong'))
    })
  }),
)

test(
  'A07: the API refuses a token that is right and lives',
  onNode(async node => {
    const { clock, ca } = node.cluster
    await whileSigning(node, async () => {
      const api = {
        ...node.cluster.api,
        handle: (...[request, peer]: Parameters<typeof node.cluster.api.handle>) =>
          node.cluster.api.handle(
            {
              ...request,
              headers: {
                ...request.headers,
                ...(request.headers.authorization && { authorization: 'Bearer x' }),
              },
            },
            peer,
          ),
      }
      const tls = { certificate: node.chain, key: key.exportPem(), clientCertificateAuthorities: ca.pem }
      const deaf = await serve({ api, port: 0, host: '127.0.0.1', tls, clock, log: silentLog })
      try {
        const text = encodeKubeconfig({
          server: `https://127.0.0.1:${deaf.port}`,
          certificateAuthority: { pem: ca.pem },
          user: { token: new Secret('abcdef.0123456789abcdef') },
        })
        await writeFile(node.path('bootstrap.kubeconfig'), text.reveal())
        await node.finds('A07')
      } finally {
        await deaf.close()
      }
    })
  }),
)

test(
  'A09: a pin of the CA before, which the agent refuses as well',
  onNode(async node => {
    const [{ spki }] = parseCertificatesPem(node.cluster.ca.pem) as [Certificate]
    const pin = sha256Hex(spki)
    await whileSigning(node, async () => {
      const { admin } = node.cluster
      await publishClusterInfo(admin, node.server, node.cluster.ca.pem)
      await calm()
      assert.deepEqual((await node.examine({ pins: [pin] })).findings, [])
      const { findings } = await node.finds('A09', [], { pins: ['0'.repeat(64)] })
      assert.ok(JSON.stringify(findings[0]?.evidence).includes(`sha256:${pin}: CN=`))
    })
  }),
)

test(
  'A17: a credential plugin that is not there, that fails, and that answers something else',
  onNode(async node => {
    const plugin = node.path('plugin')
    const kubeconfig = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'c',
          cluster: { server: node.server, 'certificate-authority-data': base64(node.cluster.ca.pem) },
        },
      ],
      users: [{ name: 'u', user: { exec: { apiVersion, command: plugin, interactiveMode: 'Never' } } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    })
    await writeFile(node.path('bootstrap.kubeconfig'), kubeconfig)
    const answers = async (script: string) => {
      await writeFile(plugin, `#!/bin/sh\n${script}\n`)
      await chmod(plugin, 0o755)
    }
    const why = async () => (await node.finds('A17')).findings[0]?.evidence[0]?.value ?? ''
    assert.match(await why(), /not found/)
    await answers('exit 7')
    assert.match(await why(), /failed with exit code 7/)
    await answers('echo hello')
    assert.match(await why(), /wrote no JSON/)
    const status = (expirationTimestamp: string) =>
      JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: 'abc', expirationTimestamp } })
    await answers(`echo '${status('2020-01-01T00:00:00Z')}'`)
    assert.match(await why(), /plugin/)
    await answers(`echo '${status('2090-01-01T00:00:00Z')}'`)
    assert.deepEqual((await node.examine()).findings, [])
  }),
)

const apiVersion = 'client.authentication.k8s.io/v1'
const base64 = (text: string) => Buffer.from(text).toString('base64')

test(
  'A11: a bootstrap kubeconfig from before the CA was changed',
  onNode(async node => {
    const other = await signingAuthority(node.cluster.clock.now(), 84)
    const text = encodeKubeconfig({
      server: node.server,
      certificateAuthority: { pem: other.pem },
      user: { token: new Secret('abcdef.0123456789abcdef') },
    })
    await writeFile(node.path('bootstrap.kubeconfig'), text.reveal())
    await node.finds('A11')
  }),
)

test(
  'B02: the pair of another node beside our own',
  onNode(async node => {
    const name = await node.pair('server', { node: 'golden-image' })
    await node.link('server', name)
    const { findings } = await node.finds('B02')
    assert.deepEqual(
      new Set(findings[0]?.evidence.map(({ value }) => value)),
      new Set(['CN=system:node:worker-1', 'CN=system:node:golden-image']),
    )
  }),
)

test(
  'B03: report 41: the kubelet was given another name than its certificate is for',
  onNode(async node => {
    const settings = 'rotateCertificates: true\nserverTLSBootstrap: true\n'
    await writeFile(node.path('config.yaml'), kubeletConfig(settings))
    assert.deepEqual((await node.examine()).findings, [], 'a host name in upper case is the same name')
    const flags = 'KUBELET_KUBEADM_ARGS="--hostname-override=edge-7 --v=2"\n'
    await writeFile(node.path('kubeadm-flags.env'), flags)
    const { findings } = await node.finds('B03')
    assert.match(findings[0]?.evidence[1]?.source ?? '', /kubeadm-flags.env --hostname-override$/)
  }),
)

test(
  'D04, D05: a key of another CA, and a bundle to sign with',
  onNode(async node => {
    const { ca, clock } = node.cluster
    const other = await signingAuthority(clock.now(), 84)
    const otherKey = 'exportPem' in other.signer ? other.signer : key
    await writeFile(node.path('ca.crt'), ca.pem)
    assert.deepEqual((await node.examine()).findings, [], 'the key is elsewhere')
    await writeFile(node.path('ca.key'), key.exportPem().reveal())
    assert.ok(otherKey)
    await node.finds('D04')
    await writeFile(node.path('ca.key'), '')
    await writeFile(node.path('ca.crt'), ca.pem + other.pem)
    await node.finds('D05')
  }),
)

test('E06: no space, no inodes, or mounted read-only', () => {
  const audit = (changes: object) => {
    const diskSpace = { path: '/p', freeBytes: 1e9, freeFiles: 1e6, readOnly: false, ...changes }
    return allChecks.find(({ meta }) => meta.id === 'E06')?.views[0]?.audit({ diskSpace }, 0).length
  }
  assert.deepEqual([{}, { freeBytes: 4096 }, { freeFiles: 0 }, { readOnly: true }].map(audit), [0, 1, 1, 1])
})

test(
  'E10: a kubeconfig that another program writes newer certificates into',
  onNode(async node => {
    const salt = await issueCertificate({
      ca: node.cluster.ca,
      subject: nameOf({ commonName: 'system:node:worker-1', organizations: ['system:nodes'] }),
      spki: node.cluster.ca.signer.publicKey,
      notBefore: node.cluster.clock.now(),
      notAfter: node.cluster.clock.now() + 24 * hour,
      random: seededRandom(86),
      extensions: { extendedKeyUsage: [oids.clientAuth] },
    })
    await writeFile(node.path('salt.pem'), salt + key.exportPem().reveal())
    await node.kubeconfig(kubeconfigOf(node, node.path('salt.pem')))
    await node.finds('E10')
  }),
)

test(
  'G08: report 94: a client CA file that is stale, or not there',
  onNode(async node => {
    const settings = (file: string) =>
      kubeletConfig(
        `rotateCertificates: true\nserverTLSBootstrap: true\nauthentication:\n  x509:\n    clientCAFile: ${file}\n`,
      )
    await writeFile(node.path('config.yaml'), settings(node.path('client-ca.crt')))
    const { findings } = await node.finds('G08')
    assert.equal(findings[0]?.evidence[0]?.value, 'cannot be read')
    await writeFile(node.path('client-ca.crt'), node.cluster.ca.pem)
    assert.deepEqual((await node.examine()).findings, [])
    const { pem } = await signingAuthority(node.cluster.clock.now(), 84)
    await writeFile(node.path('client-ca.crt'), pem)
    await node.finds('G08')
  }),
)
