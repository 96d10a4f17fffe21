import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, suite, test } from 'node:test'
import { type Agent, startAgent } from '../src/agent/agent.ts'
import type { AgentOptions } from '../src/agent/agent-options.ts'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { tokenTlsStarter } from '../src/cluster/token-tls-child.ts'
import { parseKeyPair } from '../src/hold/key-pair.ts'
import { systemNet } from '../src/host/net.ts'
import { cryptokiLoader } from '../src/host/pkcs11.ts'
import type { Cryptoki, LoadCryptoki } from '../src/keys/pkcs11/cryptoki.ts'
import { destroyKey, generateKeyInToken, keyLabels } from '../src/keys/pkcs11/generate-key.ts'
import { signerInToken } from '../src/keys/pkcs11/pkcs11-signer.ts'
import { openToken } from '../src/keys/pkcs11/token.ts'
import { parsePkcs11Uri } from '../src/keys/pkcs11/uri.ts'
import { loadSigner } from '../src/keys/private-key.ts'
import { Secret } from '../src/keys/secret.ts'
import { issueCertificate } from '../src/keys/self-signed.ts'
import type { Signer } from '../src/keys/signer.ts'
import { readTokenKey } from '../src/keys/token-key.ts'
import { connectUndici } from '../src/kube/undici-transport.ts'
import { recordingLog } from '../src/testing/recording-log.ts'
import { parseCertificatesPem } from '../src/x509/certificate.ts'
import { nameOf } from '../src/x509/name.ts'
import { oids } from '../src/x509/oid.ts'
import { eventually } from './support/eventually.ts'
import { leapingClock } from './support/leaping-clock.ts'
import { descendants, runs } from './support/processes.ts'
import { type RollcallProcess, startRollcall, temporaryFolder } from './support/rollcall-process.ts'
import { softHsm, whyNoSoftHsm, whyNoTokenTls } from './support/softhsm.ts'

const pin = '86427531'

suite('a node whose client key is in a PKCS#11 token', { skip: whyNoSoftHsm() || whyNoTokenTls() }, () => {
  const hsm = softHsm('node', pin)
  process.env.SOFTHSM2_CONF = hsm.environment.SOFTHSM2_CONF
  const folder = temporaryFolder()
  const uri = parsePkcs11Uri(hsm.uri('token=node'))
  let logins = 0
  const load = counting(cryptokiLoader(), () => logins++)
  const token = openToken({ ...hostPorts, uri, load })
  let server: RollcallProcess
  const { clock, leap, reset } = leapingClock()
  let agent: Agent | undefined
  let log = recordingLog()

  before(async () => {
    server = startRollcall([
      'server',
      '--dir',
      join(folder.path, 'server'),
      '--port',
      '0',
      '--cert-lifetime',
      '1h',
    ])
    await server.ready
  })
  afterEach(() => stop())
  after(async () => {
    token.close()
    await server?.stop()
    folder.remove()
    hsm.remove()
  })

  function start(more: Partial<AgentOptions> = {}): Agent {
    log = recordingLog()
    agent = startAgent(
      {
        nodeName: 'n1',
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        certDirectory: join(folder.path, 'node/pki'),
        kubeconfigPath: join(folder.path, 'node/kubeconfig'),
        bootstrapKubeconfigPath: join(folder.path, 'server/bootstrap.kubeconfig'),
        rotateCertificates: true,
        clockCheckSeconds: 1,
        leaseRenewIntervalSeconds: 1,
        clientKeyToken: uri,
        ...more,
      },
      {
        ...hostPorts,
        clock,
        log,
        net: systemNet,
        connect: connectUndici,
        token: { load, startTls: tokenTlsStarter(log) },
      },
    )
    return agent
  }
  async function stop(): Promise<void> {
    reset()
    await agent?.stop()
    agent = undefined
  }

  const current = () => readFileSync(join(folder.path, 'node/pki/kubelet-client-current.pem'), 'utf8')
  const inForce = () => parseKeyPair(new Secret(current()))
  const labels = async () => (await keyLabels(token)).filter(label => label.startsWith('rollcall/n1/client/'))
  const joined = (running: Agent) =>
    eventually(
      'the node has joined',
      () => running.status().registered && running.status().client.state === 'Valid',
    )
  /** Another certificate than this one is in force, on the disk, and the API takes it. */
  const replaced = (running: Agent, serial: string | undefined) =>
    eventually('the certificate is replaced', () => {
      const { client, registered, lastError } = running.status()
      const fine = client.state === 'Valid' && registered && lastError === undefined
      return fine && client.serial !== serial && client.serial === serialOnDisk()
    })

  test('bootstrap: the key is made in the token, signs the request and the TLS; no private key and no PIN is on the disk', async () => {
    await joined(start())
    const reference = readTokenKey(inForce().key)
    assert.deepEqual(await labels(), [reference?.label])
    for (const path of globSync(join(folder.path, 'node/**'), { withFileTypes: true })) {
      if (!path.isFile()) continue
      const text = readFileSync(join(path.parentPath, path.name), 'latin1')
      assert.ok(!text.includes('PRIVATE KEY') && !text.includes(pin), path.name)
    }
    assert.ok(!JSON.stringify([log.lines, log.fields]).includes(pin))
  })

  test('rotate, and crash between key and certificate: a new key each time; keys without a certificate are destroyed', async () => {
    const running = start()
    await joined(running)
    const before = readTokenKey(inForce().key)?.label
    // What a crash leaves that came after the key and before its certificate.
    await generateKeyInToken(token, 'rollcall/n1/client/20260101T000000Z.0', 'ECDSA-P256')
    const { serial } = running.status().client
    await leap(running, 56, 'renewal')
    await replaced(running, serial)
    const now = readTokenKey(inForce().key)?.label
    assert.notEqual(now, before)
    assert.deepEqual(new Set(await labels()), new Set([before, now]))
  })

  test('lapse and return: with a new key, by the bootstrap credential', async () => {
    const running = start()
    await joined(running)
    const { serial } = running.status().client
    await leap(running, 200, 'expired')
    await replaced(running, serial)
  })

  test('token removed: it is said, and when it is back the renewal goes on', async () => {
    const running = start()
    await joined(running)
    const { serial } = running.status().client
    hsm.pull()
    await leap(running, 56, 'renewal', 1)
    await eventually('it is said', () =>
      running.status().client.lastError?.includes('token "node" is not there'),
    )
    assert.equal(running.status().client.state, 'Valid')
    hsm.putBack()
    await leap(running, 56, 'renewal')
    await replaced(running, serial)

    await stop()
    hsm.pull()
    const again = start()
    await eventually('it is said', () => again.status().lastError?.includes('token "node" is not there'))
    hsm.putBack()
    await joined(again)
  })

  test('key destroyed: the node goes back to the bootstrap credential and has a new one', async () => {
    const serial = serialOnDisk()
    for (const label of await labels()) await destroyKey(token, label)
    const running = start()
    await replaced(running, serial)
    assert.ok((await labels()).includes(readTokenKey(inForce().key)?.label ?? ''))
  })

  test('wrong PIN: it is tried once, said, and the right one in the file is taken', async () => {
    token.close()
    writeFileSync(hsm.pinFile, '99999999\n')
    const before = logins
    const running = start()
    await eventually('it is said', () => running.status().lastError?.includes('PIN'))
    const said = () => log.lines.filter(line => line.includes('cannot report')).length
    await eventually('more than one attempt was made', () => logins > before && said() > 0)
    assert.equal(logins - before, 1)
    writeFileSync(hsm.pinFile, `${pin}\n`)
    await joined(running)
  })

  test('a device certificate whose key is in the token is the credential to join with; no token is on the disk', async () => {
    const id = await generateKeyInToken(token, 'device', 'ECDSA-P256')
    const device = join(folder.path, 'device.crt')
    const organizations = ['system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token']
    writeFileSync(device, await certificateOf(await signerInToken(token, { id }), organizations))
    const named = join(folder.path, 'server-only.kubeconfig')
    const bootstrap = readFileSync(join(folder.path, 'server/bootstrap.kubeconfig'), 'utf8')
    writeFileSync(named, bootstrap.replace(/token: .*/, '{}'))
    const directory = join(folder.path, 'n2')
    const running = start({
      nodeName: 'n2',
      certDirectory: join(directory, 'pki'),
      kubeconfigPath: join(directory, 'kubeconfig'),
      bootstrapKubeconfigPath: named,
      bootstrapCertificate: { certificate: device, key: parsePkcs11Uri(hsm.uri('token=node;object=device')) },
    })
    await joined(running)
    const pair = readFileSync(join(directory, 'pki/kubelet-client-current.pem'), 'utf8')
    assert.match(pair, /PKCS11 KEY REFERENCE/)
  })

  test('rollcall agent --client-key: what it started ends with it, also by kill -9', async () => {
    const directory = join(folder.path, 'n3')
    const program = startRollcall(
      [
        ...['agent', '--node', 'n3', '--node-ip', '127.0.0.1', '--address', '127.0.0.1', '--port', '0'],
        ...['--bootstrap-kubeconfig', join(folder.path, 'server/bootstrap.kubeconfig')],
        ...['--kubeconfig', join(directory, 'kubeconfig'), '--cert-dir', join(directory, 'pki')],
        ...['--client-key', hsm.uri('token=node')],
      ],
      hsm.environment,
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
    const pki = (name: string) => readFileSync(join(folder.path, 'server/pki', name), 'utf8')
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

  function serialOnDisk(): string {
    return BigInt(`0x${Buffer.from(inForce().leaf.serialNumber).toString('hex')}`).toString()
  }
})

function counting(load: LoadCryptoki, onLogin: () => void): LoadCryptoki {
  let counted: Cryptoki | undefined
  return async path => {
    const real = await load(path)
    const login: Cryptoki['login'] = (session, pin) => {
      onLogin()
      real.login(session, pin)
    }
    counted ??= Object.create(real, { login: { value: login } }) as Cryptoki
    return counted
  }
}
