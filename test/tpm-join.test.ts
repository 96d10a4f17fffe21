import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, suite, test } from 'node:test'
import { type Agent, startAgent } from '../src/agent/agent.ts'
import type { AgentOptions } from '../src/agent/agent-options.ts'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { tokenTlsStarter } from '../src/cluster/token-tls-child.ts'
import { systemNet } from '../src/host/net.ts'
import { cryptokiLoader } from '../src/host/pkcs11.ts'
import { systemTpm } from '../src/host/tpm.ts'
import { destroyKey, generateKeyInToken, keyLabels } from '../src/keys/pkcs11/generate-key.ts'
import { signerInToken } from '../src/keys/pkcs11/pkcs11-signer.ts'
import { openToken } from '../src/keys/pkcs11/token.ts'
import { parsePkcs11Uri } from '../src/keys/pkcs11/uri.ts'
import { createClient, type KubeClient } from '../src/kube/client.ts'
import { type NodeIdentityObject, nodeIdentities } from '../src/kube/rollcall/node-identity.ts'
import type { ApiResponse, Connect } from '../src/kube/transport.ts'
import { type CertificateSigningRequest, resources } from '../src/kube/types.ts'
import { connectUndici } from '../src/kube/undici-transport.ts'
import { recordingLog } from '../src/testing/recording-log.ts'
import { encodePem } from '../src/x509/pem.ts'
import { connectionOf } from './support/api-connection.ts'
import { eventually } from './support/eventually.ts'
import { leapingClock } from './support/leaping-clock.ts'
import {
  type RollcallProcess,
  runRollcall,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'
import { softHsm, whyNoSoftHsm, whyNoTokenTls } from './support/softhsm.ts'
import { type SoftwareTpm, startSwtpm, whyNoSwtpm } from './support/swtpm.ts'

const pin = '86427531'

suite('a node that joins by its TPM', { skip: whyNoSwtpm() || whyNoSoftHsm() || whyNoTokenTls() }, () => {
  const folder = temporaryFolder()
  const hsm = softHsm('node', pin)
  process.env.SOFTHSM2_CONF = hsm.environment.SOFTHSM2_CONF
  const uri = parsePkcs11Uri(hsm.uri('token=node'))
  const load = cryptokiLoader()
  const { clock, leap, reset } = leapingClock()
  let tpm: SoftwareTpm
  let other: SoftwareTpm
  let server: RollcallProcess
  let admin: KubeClient
  let closeAdmin = () => {}
  let agent: Agent | undefined
  let log = recordingLog()
  /** Every bearer token that the agent sent: none may be found anywhere. */
  const sent = new Set<string>()
  /** Loses answers of the API on the way to the agent. */
  let lose: ((response: ApiResponse, url: string, method: string) => boolean) | undefined

  before(async () => {
    ;[tpm, other] = [await startSwtpm(), await startSwtpm()]
    const directory = join(folder.path, 'server')
    server = startRollcall(['server', '--dir', directory, '--port', '0', '--cert-lifetime', '1h'])
    await server.ready
    const transport = connectUndici(await connectionOf(join(directory, 'admin.kubeconfig')))
    admin = createClient(transport)
    closeAdmin = () => transport.closeConnections()
    // It names the API server, and no credential.
    const bootstrap = readFileSync(join(directory, 'bootstrap.kubeconfig'), 'utf8')
    writeFileSync(join(folder.path, 'server-only.kubeconfig'), bootstrap.replace(/token: .*/, '{}'))
  })
  afterEach(() => stop())
  after(async () => {
    closeAdmin()
    await server?.stop()
    await tpm?.remove()
    await other?.remove()
    hsm.remove()
    folder.remove()
  })

  const connect: Connect = config => {
    if (config.bearerToken) sent.add(config.bearerToken.reveal())
    const transport = connectUndici(config)
    return {
      ...transport,
      async request(request) {
        const response = await transport.request(request)
        if (lose?.(response, request.url, request.method)) throw new Error('the answer was lost')
        return response
      },
    }
  }

  function start(nodeName: string, more: Partial<AgentOptions> = {}): Agent {
    log = recordingLog()
    agent = startAgent(
      {
        nodeName,
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        certDirectory: join(folder.path, nodeName, 'pki'),
        kubeconfigPath: join(folder.path, nodeName, 'kubeconfig'),
        bootstrapKubeconfigPath: join(folder.path, 'server-only.kubeconfig'),
        rotateCertificates: true,
        clockCheckSeconds: 1,
        leaseRenewIntervalSeconds: 1,
        attest: { tpm: tpm.place },
        ...more,
      },
      {
        ...hostPorts,
        clock,
        log,
        net: systemNet,
        connect,
        openTpm: systemTpm,
        token: { load, startTls: tokenTlsStarter(log) },
      },
    )
    return agent
  }
  async function stop(): Promise<void> {
    reset()
    lose = undefined
    await agent?.stop()
    agent = undefined
  }

  const identity = (name: string) => admin.get<NodeIdentityObject>(nodeIdentities, { name })
  const said = (running: Agent, what: string) =>
    eventually(`it is said: ${what}`, () => running.status().lastError?.includes(what))
  const joined = (running: Agent) =>
    eventually('the node has joined', () => {
      const { client, registered } = running.status()
      return registered && client.state === 'Valid'
    })
  const replaced = (running: Agent, serial: string | undefined) =>
    eventually('the certificate is replaced', () => {
      const { client, registered } = running.status()
      return client.state === 'Valid' && registered && client.serial !== serial
    })
  const approve = (name: string, ...more: string[]) =>
    runRollcall([
      ...['identity', 'approve', name, ...more],
      ...['--kubeconfig', join(folder.path, 'server/admin.kubeconfig')],
    ])

  /** No token anywhere on the node's disk or in its log; no private key but where its own TLS key is a file. */
  function scan(nodeName: string, keyInFile: boolean): void {
    const texts = readdirSync(join(folder.path, nodeName), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    assert.ok(texts.length > 0)
    const everything = [...texts, JSON.stringify([log.lines, log.fields])].join('\n')
    for (const token of sent) assert.ok(!everything.includes(token) && !everything.includes(token.slice(-40)))
    assert.doesNotMatch(everything, /token: [^\s{]/)
    if (!keyInFile) assert.doesNotMatch(everything, /PRIVATE KEY/)
  }

  for (const [kind, keys] of [
    ['file', {}],
    ['pkcs11', { clientKeyToken: uri }],
  ] as const) {
    const name = `n-${kind}`
    const token = openToken({ ...hostPorts, uri, load })
    after(() => token.close())

    test(`${kind}: bootstrap: it waits for a person, then joins; no token is on the disk`, async () => {
      const running = start(name, keys)
      await said(running, 'waits for a person')
      assert.equal((await identity(name)).spec.key.type, 'TPM')
      const { stdout } = await approve(name)
      assert.match(stdout, /^approved n-.*: TPM [0-9a-f]{64}\n$/)
      await joined(running)
      assert.ok(sent.size > 0)
      scan(name, kind === 'file')
      // The scan finds what it looks for, where it is.
      const [token = ''] = sent
      for (const left of [token, 'token: abcdef.0123456789abcdef', '-----BEGIN EC PRIVATE KEY-----']) {
        writeFileSync(join(folder.path, name, 'left-behind'), left)
        assert.throws(() => scan(name, false), assert.AssertionError)
      }
      rmSync(join(folder.path, name, 'left-behind'))
      const { items } = await admin.list<CertificateSigningRequest>(resources.certificateSigningRequests, {})
      const messages = items.flatMap(({ status }) => status?.conditions?.map(({ message }) => message) ?? [])
      assert.ok(messages.some(message => message?.includes('evidence: hardware')))
    })

    test(`${kind}: rotate: the certificate itself asks, the TPM need not be there`, async () => {
      const running = start(name, keys)
      await joined(running)
      await tpm.unplug()
      const { serial } = running.status().client
      await leap(running, 56, 'renewal')
      await replaced(running, serial)
      await stop()
      await tpm.plug()
    })

    test(`${kind}: lapse and return: the machine attests again, with a new key and a new token`, async () => {
      const running = start(name, keys)
      await joined(running)
      const before = sent.size
      const { serial } = running.status().client
      await leap(running, 200, 'expired')
      await replaced(running, serial)
      assert.ok(sent.size > before)
      scan(name, kind === 'file')
    })

    test(`${kind}: crash between token and certificate: the next start attests anew and joins`, async () => {
      const fresh = `${name}-crash`
      start(fresh, keys)
      await eventually('it asked', () => identity(fresh).catch(() => undefined))
      await approve(fresh)
      // The request is made, but its answer never comes.
      const asked = Promise.withResolvers<void>()
      lose = (_response, url, method) => {
        const isRequest = method === 'POST' && url.includes('certificatesigningrequests')
        if (isRequest) asked.resolve()
        return isRequest
      }
      await asked.promise
      await stop()
      const again = start(fresh, keys)
      await joined(again)
      scan(fresh, kind === 'file')
    })

    test(`${kind}: a lost answer: the same key asks again, and no other`, async () => {
      const fresh = `${name}-lost`
      const running = start(fresh, keys)
      await eventually('it asked', () => identity(fresh).catch(() => undefined))
      let losses = 0
      lose = (_response, url, method) =>
        method === 'POST' && url.includes('certificatesigningrequests') && losses++ < 1
      await approve(fresh)
      await joined(running)
      assert.ok(losses > 1)
      const spkis = (await identity(fresh)).status?.tokens?.map(({ spki }) => spki) ?? []
      assert.ok(spkis.length > 1)
      assert.equal(new Set(spkis).size, 1)
    })
  }

  test('key destroyed: the machine attests again, with a new key', async () => {
    const running = start('n-pkcs11', { clientKeyToken: uri })
    await joined(running)
    const { serial } = running.status().client
    await stop()
    const token = openToken({ ...hostPorts, uri, load })
    for (const label of await keyLabels(token))
      if (label.startsWith('rollcall/n-pkcs11/')) await destroyKey(token, label)
    token.close()
    await replaced(start('n-pkcs11', { clientKeyToken: uri }), serial)
  })

  test('a registered key in a token proves the machine as well; nothing of either key is on the disk', async () => {
    const token = openToken({ ...hostPorts, uri, load })
    const id = await generateKeyInToken(token, 'machine', 'ECDSA-P256')
    const { publicKey } = await signerInToken(token, { id })
    token.close()
    const file = join(folder.path, 'machine.pub')
    writeFileSync(file, encodePem('PUBLIC KEY', publicKey))
    await approve('n-hsm', '--public-key', file, '--hardware')
    const machine = parsePkcs11Uri(hsm.uri('token=node;object=machine'))
    const running = start('n-hsm', { attest: { key: { kind: 'pkcs11', uri: machine } }, clientKeyToken: uri })
    await joined(running)
    scan('n-hsm', false)
    const { serial } = running.status().client
    await leap(running, 200, 'expired')
    await replaced(running, serial)
  })

  test('TPM removed: it is said, and when it is back the node joins', async () => {
    await tpm.unplug()
    const running = start('n-late')
    await said(running, 'cannot be opened')
    await tpm.plug()
    await said(running, 'waits for a person')
    await approve('n-late')
    await joined(running)
  })

  test('wrong TPM: another machine does not join under the name, whatever it knows of the first', async () => {
    const running = start('n-file', {
      attest: { tpm: other.place },
      certDirectory: join(folder.path, 'thief/pki'),
      kubeconfigPath: join(folder.path, 'thief/kubeconfig'),
    })
    await said(running, "another machine's")
    assert.equal(running.status().client.state === 'Valid', false)
  })

  test('a revoked machine does not come back', async () => {
    const kubeconfig = join(folder.path, 'server/admin.kubeconfig')
    await runRollcall(['identity', 'revoke', 'n-late', '--kubeconfig', kubeconfig])
    const running = start('n-late', { certDirectory: join(folder.path, 'n-late/pki-new') })
    await said(running, 'revoked')
  })

  test('rollcall agent --attest tpm:… joins', async () => {
    const program = startRollcall([
      ...['agent', '--node', 'n-cli', '--node-ip', '127.0.0.1', '--address', '127.0.0.1', '--port', '0'],
      ...['--bootstrap-kubeconfig', join(folder.path, 'server-only.kubeconfig')],
      ...[
        '--kubeconfig',
        join(folder.path, 'n-cli/kubeconfig'),
        '--cert-dir',
        join(folder.path, 'n-cli/pki'),
      ],
      ...['--attest', `tpm:${tpm.place}`],
    ])
    await eventually('it asked', () => identity('n-cli').catch(() => undefined))
    await approve('n-cli')
    await program.ready
    await program.stop()
  })
})
