import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { generateSigner, loadSigner } from '../src/keys/private-key.ts'
import { issueCertificate } from '../src/keys/self-signed.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { parseCertificatesPem } from '../src/x509/certificate.ts'
import { parseIp } from '../src/x509/ip.ts'
import { commonName, nameOf } from '../src/x509/name.ts'
import { oids } from '../src/x509/oid.ts'
import { eventually } from './support/eventually.ts'
import {
  executable,
  type RollcallProcess,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'

const example = fileURLToPath(new URL('../examples/cloud-identity/', import.meta.url))
const audience = 'https://cluster.example'
const issuer = 'https://accounts.google.example'
const skip = spawnSync('curl', ['--version']).status !== 0 && 'curl is not installed'

suite('examples/cloud-identity', { skip }, () => {
  const folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 })
  let server: RollcallProcess
  let agent: RollcallProcess | undefined
  let exchange: ChildProcess
  let exchangePort = 0
  let said = ''
  let metadata: Server
  let metadataPort = 0
  /** Documents that the metadata server gave; none may be found anywhere. */
  const given: string[] = []
  let claims: Record<string, unknown> = {}

  before(async () => {
    server = startRollcall(['server', '--dir', at('server'), '--port', '0'])
    await server.ready
    metadata = createServer(({ url = '', headers }, response) => {
      const asked = new URL(url, 'http://metadata')
      const right = asked.pathname === '/computeMetadata/v1/instance/service-accounts/default/identity'
      if (!right || headers['metadata-flavor'] !== 'Google') return void response.writeHead(403).end()
      const document = documentOf(key.privateKey, { aud: asked.searchParams.get('audience'), ...claims })
      given.push(document)
      response.end(document)
    })
    await listen(0)
    metadataPort = (metadata.address() as AddressInfo).port
    await startExchange()
    writeBootstrap()
  })
  after(async () => {
    await agent?.stop()
    await server?.stop()
    exchange?.kill()
    metadata?.closeAllConnections()
    metadata?.close()
    folder.remove()
  })

  const listen = async (port: number) => {
    metadata.listen(port, '127.0.0.1')
    await once(metadata, 'listening')
  }

  async function startExchange(): Promise<void> {
    writeFileSync(at('exchange.key'), generateSigner('ECDSA-P256', hostPorts.random).exportPem().reveal())
    writeFileSync(at('exchange.crt'), await servingCertificate(readFileSync(at('exchange.key'), 'utf8')))
    const jwk = { ...key.publicKey.export({ format: 'jwk' }), kid: 'k1' }
    writeFileSync(at('jwks.json'), JSON.stringify({ keys: [jwk] }))
    const settings = {
      ...{ port: 0, address: '127.0.0.1', certificate: at('exchange.crt'), key: at('exchange.key') },
      ...{ issuer, audience, keys: at('jwks.json'), projects: ['p1'], rollcall: executable },
      kubeconfig: at('server/admin.kubeconfig'),
      groups: ['system:bootstrappers:kubeadm:default-node-token'],
    }
    writeFileSync(at('settings.json'), JSON.stringify(settings))
    exchange = spawn(process.execPath, [join(example, 'exchange.mjs'), at('settings.json')], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // As the guide runs it: beside rollcall, whose launcher finds its own Node.
      env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
    })
    exchange.stdout?.setEncoding('utf8').on('data', text => {
      said += text
    })
    const [, port] = await eventually('the exchange listens', () => /ready (\d+)/.exec(said) ?? undefined)
    exchangePort = Number(port)
  }

  /** The example's, with the addresses filled in. */
  function writeBootstrap(): void {
    const path = at('server/bootstrap.kubeconfig')
    const { cluster } = selectContext(parseKubeconfig(readFileSync(path, 'utf8'), path))
    const filled = readFileSync(join(example, 'bootstrap.kubeconfig'), 'utf8')
      .replace('https://API:6443', cluster.server)
      .replaceAll('/etc/kubernetes/pki/ca.crt', at('server/pki/ca.crt'))
      .replace('/opt/rollcall/', example)
      .replace('https://EXCHANGE:8443/', `https://127.0.0.1:${exchangePort}/`)
    const metadataUrl = `      - { name: METADATA_URL, value: 'http://127.0.0.1:${metadataPort}' }\n`
    writeFileSync(at('bootstrap.kubeconfig'), filled + metadataUrl)
  }

  function startAgent(node: string): RollcallProcess {
    agent = startRollcall([
      ...['agent', '--node', node, '--node-ip', '192.0.2.10', '--address', '127.0.0.1', '--port', '0'],
      ...['--bootstrap-kubeconfig', at('bootstrap.kubeconfig'), '--server-tls-bootstrap'],
      ...['--kubeconfig', at(`${node}/kubeconfig`), '--cert-dir', at(`${node}/pki`)],
    ])
    return agent
  }
  const pairOf = (node: string, prefix: string) =>
    readFileSync(at(`${node}/pki/${prefix}-current.pem`), 'utf8')

  test('a machine whose metadata server comes late joins by its document, and gets both certificates', async () => {
    claims = instance('vm-1')
    metadata.close()
    metadata.closeAllConnections()
    const running = startAgent('vm-1')
    await eventually(
      'it is said',
      () => running.stderr().includes('cloud-identity.sh failed with exit code'),
      60_000,
    )
    await listen(metadataPort)
    await running.ready
    await eventually('both are on the disk', () => existsSync(at('vm-1/pki/kubelet-server-current.pem')))
    const [client, serving] = ['kubelet-client', 'kubelet-server'].map(prefix =>
      parseCertificatesPem(pairOf('vm-1', prefix)).at(0),
    )
    assert.equal(client && commonName(client.subject), 'system:node:vm-1')
    assert.equal(serving && commonName(serving.subject), 'system:node:vm-1')
    assert.equal(serving?.subjectAltName.ipAddresses.length, 1)
    await running.stop()
    const texts = globSync(at('vm-1/**'), { withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    const everything = [...texts, running.stderr(), said].join('\n')
    assert.ok(given.length > 0)
    for (const document of given) assert.ok(!everything.includes(document))
    assert.doesNotMatch(
      everything,
      /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/,
      'no bootstrap token is on the disk or in a log',
    )
  })

  test('documents for another cluster, of another project, of another machine, out of date or used before give no token', async () => {
    const now = Math.floor(Date.now() / 1000)
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const good = { aud: audience, ...instance('vm-2') }
    const unsigned = `${encode({ alg: 'none', kid: 'k1' })}.${encode({ iss: issuer, ...good })}.`
    const cases: [string, string][] = [
      ['it is for https://other', documentOf(key.privateKey, { ...good, aud: 'https://other' })],
      ['project p2', documentOf(key.privateKey, { ...good, ...instance('vm-2', 'p2') })],
      ['vm-9 asks for node vm-2', documentOf(key.privateKey, { ...good, ...instance('vm-9') })],
      ['it is not valid now', documentOf(key.privateKey, { ...good, exp: now - 1 })],
      ['issuer https://else', documentOf(key.privateKey, { ...good, iss: 'https://else' })],
      ['its signature is wrong', documentOf(other, good)],
      ['this is no identity document', unsigned],
      ['algorithm HS256', `${encode({ alg: 'HS256', kid: 'k1' })}.${encode(good)}.AAAA`],
    ]
    for (const [why, document] of cases) {
      assert.equal(await ask(document), 403, why)
      assert.ok(said.includes(`refused: ${why}`), `${why}: ${said}`)
    }
    const document = documentOf(key.privateKey, good)
    assert.equal(await ask(document), 200)
    assert.equal(await ask(document), 403)
    assert.ok(said.includes('refused: it was used before'))
  })

  /** Status of the exchange's answer, asked as the plugin asks. */
  async function ask(document: string): Promise<number> {
    const child = spawn('curl', [
      ...['--silent', '--cacert', at('server/pki/ca.crt'), '--data-binary', '@-', '--output', at('answer')],
      ...['--write-out', '%{http_code}', `https://127.0.0.1:${exchangePort}/?node=vm-2`],
    ])
    child.stdin.end(document)
    const [code] = await Promise.all([child.stdout.setEncoding('utf8').toArray(), once(child, 'exit')])
    return Number(code.join(''))
  }

  async function servingCertificate(pem: string): Promise<string> {
    const pki = (name: string) => readFileSync(at(`server/pki/${name}`), 'utf8')
    const [certificate] = parseCertificatesPem(pki('ca.crt'))
    const address = parseIp('127.0.0.1')
    assert.ok(certificate && address)
    return issueCertificate({
      ca: { certificate, signer: loadSigner(pki('ca.key')) },
      subject: nameOf({ commonName: 'exchange' }),
      spki: loadSigner(pem).publicKey,
      notBefore: Date.now() - 60_000,
      notAfter: Date.now() + 3_600_000,
      random: hostPorts.random,
      extensions: {
        keyUsage: ['digitalSignature'],
        extendedKeyUsage: [oids.serverAuth],
        subjectAltName: { dnsNames: [], ipAddresses: [address] },
      },
    })
  }
})

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function documentOf(key: KeyObject, claims: Record<string, unknown>): string {
  const now = Math.floor(Date.now() / 1000)
  const signed = `${encode({ alg: 'RS256', kid: 'k1' })}.${encode({ iss: issuer, iat: now, exp: now + 3600, ...claims })}`
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}

const instance = (name: string, project = 'p1') => ({
  google: { compute_engine: { instance_id: '4711', instance_name: name, project_id: project } },
})
