import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it, type TestContext } from 'node:test'
import { connect } from 'node:tls'
import { systemClock } from '../../host/clock.ts'
import { clientTemplate } from '../../join/template.ts'
import { Secret } from '../../keys/secret.ts'
import type { Peer } from '../../kube/transport.ts'
import { silentLog } from '../../ports.ts'
import { foreignPair } from '../../testing/https-server.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { createTestAuthority } from '../../testing/test-authority.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import type { Api } from '../api.ts'
import { smallApi } from '../testing/small-api.ts'
import type { ServedChain } from './chain-choice.ts'
import { serve } from './server.ts'

const pair = await foreignPair('apiserver')
const authority = await createTestAuthority(seededRandom(7))
const node = await (async () => {
  const now = Date.now()
  const template = clientTemplate('a', 'Ed25519')
  assert.ok(template)
  const { chain, key } = await authority.issue(template, { notBefore: now - 60_000, notAfter: now + 60_000 })
  return { cert: chain + authority.certificate, key: key.reveal() }
})()
const presented = parseCertificatesPem(node.cert).map(({ raw }) => raw)

const chainOf = (id: string, resumable: boolean): ServedChain => ({
  id,
  certificate: pair.certificate,
  key: new Secret(pair.key),
  resumable,
})

async function served(t: TestContext) {
  const peers: Peer[] = []
  const inner = smallApi().api
  const api: Api = {
    ...inner,
    handle(request, peer) {
      peers.push(peer)
      return inner.handle(request, peer)
    },
  }
  const state = { chain: chainOf('1/old', true), authorities: authority.certificate }
  const probed = chainOf('2/bare', false)
  const server = await serve({
    api,
    port: 0,
    tls: { certificate: '', key: new Secret(''), clientCertificateAuthorities: '' },
    chains: {
      forConnection: () => state.chain,
      forName: name => (name === 'probe.example' ? probed : undefined),
      clientCertificateAuthorities: () => state.authorities,
    },
    clock: systemClock,
    log: silentLog,
  })
  t.after(() => server.close())
  /** One request on a connection of its own; `session` is what it could be resumed with, if the server gave any. */
  async function ask({
    session,
    servername = '',
  }: {
    session?: Buffer | undefined
    servername?: string
  } = {}) {
    const socket = connect({
      port: server.port,
      host: '127.0.0.1',
      ca: pair.certificate,
      checkServerIdentity: () => undefined,
      ...node,
      session,
      servername,
    })
    let ticket: Buffer | undefined
    socket.on('session', (given: Buffer) => {
      ticket = given
    })
    await once(socket, 'secureConnect')
    const resumed = socket.isSessionReused()
    socket.write('GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    socket.resume()
    await once(socket, 'close')
    return { resumed, session: ticket, peer: peers.at(-1) }
  }
  return { ask, state }
}

describe('a TLS session', () => {
  it('is resumed as who presented the certificate, with the CAs that stood behind it', async t => {
    const { ask } = await served(t)
    const first = await ask()
    const second = await ask({ session: first.session })
    assert.deepEqual([first.resumed, second.resumed], [false, true])
    assert.equal(presented.length, 2)
    for (const { peer } of [first, second])
      assert.deepEqual(
        peer?.certificates?.map(der => Buffer.from(der)),
        presented.map(der => Buffer.from(der)),
      )
    assert.equal(second.peer?.chain, '1/old')
  })

  it('ends when other CAs of clients are trusted', async t => {
    const { ask, state } = await served(t)
    const { session } = await ask()
    state.authorities = pair.certificate
    assert.equal((await ask({ session })).resumed, false)
    state.authorities = authority.certificate
    assert.equal((await ask({ session })).resumed, false)
  })

  it('ends when another chain is served, and none begins with a chain whose handshakes prove something', async t => {
    const { ask, state } = await served(t)
    const { session } = await ask()
    const before = state.chain
    state.chain = chainOf('2/bare', false)
    const bare = await ask({ session })
    assert.equal(bare.resumed, false)
    assert.equal((await ask({ session: bare.session })).resumed, false)
    state.chain = before
    for (const old of [session, bare.session]) assert.equal((await ask({ session: old })).resumed, false)
  })

  it('proves nothing of the chain that a name was shown in its handshake', async t => {
    const { ask } = await served(t)
    const servername = 'probe.example'
    const first = await ask({ servername })
    assert.equal(first.peer?.chain, '2/bare')
    const second = await ask({ session: first.session, servername })
    assert.deepEqual([second.resumed, second.peer?.chain], [true, '1/old'])
  })
})
