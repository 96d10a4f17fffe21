import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import type { Agent } from '../src/agent/agent.ts'
import { destroyKey, keyLabels } from '../src/keys/pkcs11/generate-key.ts'
import { parsePkcs11Uri } from '../src/keys/pkcs11/uri.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { eventually } from './support/eventually.ts'
import { softHsm, whyNoSoftHsm, whyNoTokenTls } from './support/softhsm.ts'
import { pin, type TokenNode, tokenNode } from './support/token-node.ts'

suite('a node whose serving key is in a PKCS#11 token', { skip: whyNoSoftHsm() || whyNoTokenTls() }, () => {
  let node: TokenNode
  let running: Agent
  let ca: string
  // The cluster certifies no loopback address.
  let address = '192.0.2.10'
  before(async () => {
    node = tokenNode(softHsm('node', pin))
    await node.startServer()
    ca = readFileSync(join(node.folder, 'server/pki/ca.crt'), 'utf8')
    running = start()
    await served('a certificate')
  })
  after(async () => {
    await node?.stop()
    await node?.close()
  })

  function start(): Agent {
    return node.start({
      addresses: [{ type: 'InternalIP', address }],
      serverTLSBootstrap: true,
      servingKeyToken: parsePkcs11Uri(node.equipment.uri('token=node')),
      listenAddress: '127.0.0.1',
      port: 0,
    })
  }
  const served = (what: string, other?: string) =>
    eventually(
      `${what} is served`,
      async () => {
        // Only a handshake shows that the key is gone.
        const answer = running.status().port === undefined ? undefined : await ask('/healthz')
        const { state, serial } = running.status().serving
        return answer !== undefined && state === 'Valid' && serial !== other
      },
      90_000,
    )
  /** A handshake that verifies the certificate; undefined: it ends otherwise. */
  function handshake(): Promise<TLSSocket | undefined> {
    const { port = 0 } = running.status()
    return new Promise(resolve => {
      const socket = connect({ host: '127.0.0.1', port, ca, checkServerIdentity: () => undefined })
      socket.once('secureConnect', () => resolve(socket)).once('error', () => resolve(undefined))
    })
  }
  /** `STATUS body`; undefined: no TLS. */
  function ask(path: string, more: { cert?: string; key?: string } = {}): Promise<string | undefined> {
    const { port = 0 } = running.status()
    const identity = { ca, checkServerIdentity: () => undefined, agent: false as const }
    return new Promise(resolve => {
      request({ host: '127.0.0.1', port, path, ...identity, ...more }, async response => {
        const body = await response.setEncoding('utf8').toArray()
        resolve(`${response.statusCode} ${body.join('')}`)
      })
        .once('error', () => resolve(undefined))
        .end()
    })
  }
  const administrator = () => {
    const path = join(node.folder, 'server/admin.kubeconfig')
    const { user } = selectContext(parseKubeconfig(readFileSync(path, 'utf8'), path))
    const textOf = (part: typeof user.clientCertificate | typeof user.clientKey) =>
      part && ('data' in part ? part.data.reveal() : readFileSync(part.file, 'utf8'))
    const [cert, key] = [textOf(user.clientCertificate), textOf(user.clientKey)]
    assert.ok(cert && key)
    return { cert, key }
  }
  const servingLabels = async () =>
    (await keyLabels(node.token)).filter(label => label.startsWith('rollcall/n1/serving/'))

  test('it serves with a certificate of the cluster; callers are known by theirs, and no private key is on the disk', async () => {
    const socket = await handshake()
    assert.ok(socket?.authorized)
    const { raw } = socket.getPeerCertificate()
    socket.destroy()
    assert.equal(new X509Certificate(raw).subjectAltName, 'IP Address:192.0.2.10')
    assert.equal(await ask('/healthz'), '401 Unauthorized')
    assert.equal(await ask('/healthz', administrator()), '200 ok')
    assert.match((await ask('/metrics', administrator())) ?? '', /^200 [\s\S]*certificate_ttl_seconds/)
    assert.equal((await servingLabels()).length, 1)
    node.scan()
  })

  test('attack: callers that leave in the middle or send rubbish cost nobody else the service', async () => {
    const { port = 0 } = running.status()
    const sent = ['', 'rubbish\r\n\r\n', '\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03']
    for (const bytes of [...sent, ...sent, ...sent]) {
      const socket = connectSocket(port, '127.0.0.1').on('error', () => {})
      await once(socket, 'connect')
      socket.write(Buffer.from(bytes, 'latin1'))
      socket.resetAndDestroy()
    }
    assert.equal(await ask('/healthz'), '401 Unauthorized')
  })

  test('another certificate: a new key in the token, new handshakes have it, and a connection of before goes on', async () => {
    const before = await handshake()
    assert.ok(before)
    const { serial } = running.status().serving
    address = '192.0.2.11'
    running.setAddresses([{ type: 'InternalIP', address }])
    await served('another certificate', serial)
    assert.equal((await servingLabels()).length, 2)
    const answer = new Promise(resolve => before.once('data', data => resolve(String(data).slice(0, 12))))
    before.write('GET /healthz HTTP/1.1\r\nhost: n1\r\n\r\n')
    assert.equal(await answer, 'HTTP/1.1 401')
    before.destroy()
  })

  test('a restart makes no new request: the pair on the disk says which key it is', async () => {
    const { serial } = running.status().serving
    await node.stop()
    running = start()
    await served('the same certificate')
    assert.equal(running.status().serving.serial, serial)
  })

  test('key destroyed: callers are refused, and another certificate is asked for', async () => {
    const { serial } = running.status().serving
    await node.stop()
    for (const label of await servingLabels()) await destroyKey(node.token, label)
    running = start()
    await served('another certificate', serial)
    assert.notEqual(running.status().serving.serial, serial)
  })

  test('token removed: handshakes end with an alert, and when it is back they are made again', async () => {
    await node.stop()
    await node.equipment.pull()
    running = start()
    await eventually('it listens', () => running.status().port !== undefined)
    assert.equal(await ask('/healthz'), undefined)
    await node.equipment.putBack()
    await served('the certificate')
  })
})
