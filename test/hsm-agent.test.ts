import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, suite, test } from 'node:test'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { generateKeyInToken } from '../src/keys/pkcs11/generate-key.ts'
import { signerInToken } from '../src/keys/pkcs11/pkcs11-signer.ts'
import { parsePkcs11Uri } from '../src/keys/pkcs11/uri.ts'
import { loadSigner } from '../src/keys/private-key.ts'
import { issueCertificate } from '../src/keys/self-signed.ts'
import type { Signer } from '../src/keys/signer.ts'
import { parseCertificatesPem } from '../src/x509/certificate.ts'
import { nameOf } from '../src/x509/name.ts'
import { oids } from '../src/x509/oid.ts'
import { eventually } from './support/eventually.ts'
import { descendants, runs } from './support/processes.ts'
import { startRollcall } from './support/rollcall-process.ts'
import { softHsm, whyNoSoftHsm, whyNoTokenTls } from './support/softhsm.ts'
import { lifeWithToken } from './support/token-matrix.ts'
import { pin, type TokenNode, tokenNode } from './support/token-node.ts'

suite('a node whose client key is in a PKCS#11 token', { skip: whyNoSoftHsm() || whyNoTokenTls() }, () => {
  let node: TokenNode
  before(async () => {
    node = tokenNode(softHsm('node', pin))
    await node.startServer()
  })
  afterEach(() => node?.stop())
  after(() => node?.close())

  for (const [title, body] of lifeWithToken) test(title, () => body(node))

  test('a device certificate whose key is in the token is the credential to join with; no token is on the disk', async () => {
    const { folder, equipment, token, joined, scan } = node
    const id = await generateKeyInToken(token, 'device', 'ECDSA-P256')
    const device = join(folder, 'device.crt')
    const organizations = ['system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token']
    writeFileSync(device, await certificateOf(await signerInToken(token, { id }), organizations))
    const named = join(folder, 'server-only.kubeconfig')
    const bootstrap = readFileSync(join(folder, 'server/bootstrap.kubeconfig'), 'utf8')
    writeFileSync(named, bootstrap.replace(/token: .*/, '{}'))
    const directory = join(folder, 'n2')
    const running = node.start({
      nodeName: 'n2',
      certDirectory: join(directory, 'pki'),
      kubeconfigPath: join(directory, 'kubeconfig'),
      bootstrapKubeconfigPath: named,
      bootstrapCertificate: {
        certificate: device,
        key: parsePkcs11Uri(equipment.uri('token=node;object=device')),
      },
    })
    await joined(running)
    const pair = readFileSync(join(directory, 'pki/kubelet-client-current.pem'), 'utf8')
    assert.match(pair, /PKCS11 KEY REFERENCE/)
    scan(directory)
    // The scan finds a token and a key where there is one.
    for (const found of ['token: abcdef.0123456789abcdef', '-----BEGIN EC PRIVATE KEY-----', pin]) {
      writeFileSync(join(directory, 'pki/left-behind'), found)
      assert.throws(() => scan(directory), assert.AssertionError)
    }
  })

  test('rollcall agent --client-key: what it started ends with it, also by kill -9', async () => {
    const directory = join(node.folder, 'n3')
    const program = startRollcall(
      [
        ...['agent', '--node', 'n3', '--node-ip', '127.0.0.1', '--address', '127.0.0.1', '--port', '0'],
        ...['--bootstrap-kubeconfig', join(node.folder, 'server/bootstrap.kubeconfig')],
        ...['--kubeconfig', join(directory, 'kubeconfig'), '--cert-dir', join(directory, 'pki')],
        ...['--client-key', node.equipment.uri('token=node')],
      ],
      node.equipment.environment,
    )
    await program.ready
    const started = descendants(program.child.pid ?? 0)
    assert.ok(started.length >= 3, 'the process for TLS, the server of the token and its connection')
    program.child.kill('SIGKILL')
    await program.ended
    await eventually('all of them have ended', () => started.every(processId => !runs(processId)))
  })

  /** A client certificate by the cluster's CA. */
  async function certificateOf({ publicKey: spki }: Signer, organizations: string[]): Promise<string> {
    const pki = (name: string) => readFileSync(join(node.folder, 'server/pki', name), 'utf8')
    const [certificate] = parseCertificatesPem(pki('ca.crt'))
    assert.ok(certificate)
    return issueCertificate({
      ca: { certificate, signer: loadSigner(pki('ca.key')) },
      subject: nameOf({ commonName: 'device-4711', organizations }),
      spki,
      notBefore: Date.now() - 60_000,
      notAfter: Date.now() + 3_600_000,
      random: hostPorts.random,
      extensions: { keyUsage: ['digitalSignature'], extendedKeyUsage: [oids.clientAuth] },
    })
  }
})
