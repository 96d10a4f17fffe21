import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { Api } from '../../src/apiserver/api.ts'
import { serve } from '../../src/apiserver/http/server.ts'
import { hasCode } from '../../src/errors.ts'
import { systemClock } from '../../src/host/clock.ts'
import { Secret } from '../../src/keys/secret.ts'
import { createClient, type KubeClient } from '../../src/kube/client.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import { silentLog } from '../../src/ports.ts'
import { startEmbeddedCluster } from '../../src/testing/embedded-cluster.ts'
import { type ForeignPair, foreignPair } from '../../src/testing/https-server.ts'
import { whoAmI } from '../../src/testing/who-am-i.ts'

// SECURITY.md, adversary 4: whoever sits between a node and the API reads, changes, repeats and redirects all it likes, but
// has no key. The node has the real client, the API its real server; between them is a proxy that does the attacker's will.

const bootstrapToken = 'abcdef.0123456789abcdef'
const apiPair = await foreignPair('api')
const attackerPair = await foreignPair('attacker')

/** The API behind TLS, and how many requests reached it. */
async function startApi(t: TestContext, tls: ForeignPair): Promise<{ port: number; served: () => number }> {
  const cluster = await startEmbeddedCluster()
  let served = 0
  const counting: Api = {
    ...cluster.api,
    handle(request, peer) {
      served++
      return cluster.api.handle(request, peer)
    },
  }
  const server = await serve({
    api: counting,
    port: 0,
    host: '127.0.0.1',
    tls: {
      certificate: tls.certificate,
      key: new Secret(tls.key),
      clientCertificateAuthorities: cluster.ca.pem,
    },
    clock: systemClock,
    log: silentLog,
  })
  t.after(async () => {
    await server.close()
    await cluster.close()
  })
  return { port: server.port, served: () => served }
}

/** What a node sends with its bootstrap token to 127.0.0.1:`port`; it trusts the real API's CA and no other. */
function node(t: TestContext, port: number): KubeClient {
  const transport = connectUndici({
    server: `https://127.0.0.1:${port}`,
    certificateAuthority: apiPair.certificate,
    bearerToken: new Secret(bootstrapToken),
  })
  t.after(() => transport.closeConnections())
  return createClient(transport)
}

/** Who the API takes the node for. */
const ask = async (client: KubeClient) => (await whoAmI(client))?.username

interface Wire {
  port: number
  /** Everything that nodes sent. */
  sent(): Buffer
  /** Everything that they were answered. */
  answered(): Buffer
}

/** The network between a node and the API at `target`; `change` is what the attacker does to each piece of traffic. */
async function startWire(
  t: TestContext,
  target: number,
  change: (piece: Buffer, from: 'node' | 'api') => Buffer = piece => piece,
): Promise<Wire> {
  const sent: Buffer[] = []
  const answered: Buffer[] = []
  const sockets = new Set<Socket>()
  const follow = (from: Socket, to: Socket, seen: Buffer[], who: 'node' | 'api') => {
    sockets.add(from)
    from.on('data', piece => {
      seen.push(piece)
      to.write(change(piece, who))
    })
    from.on('error', () => to.destroy()) // either side hangs up when it sees the attack
    from.on('close', () => to.destroy())
  }
  const server = createServer(client => {
    const upstream = connect(target, '127.0.0.1')
    follow(client, upstream, sent, 'node')
    follow(upstream, client, answered, 'api')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, sent: () => Buffer.concat(sent), answered: () => Buffer.concat(answered) }
}

test('who listens sees neither the token nor the answer', async t => {
  const api = await startApi(t, apiPair)
  const wire = await startWire(t, api.port)
  assert.equal(await ask(node(t, wire.port)), 'system:bootstrap:abcdef')
  assert.ok(wire.sent().length > 100 && wire.answered().length > 100, 'the traffic was seen')
  const secret = bootstrapToken.split('.')[1] ?? assert.fail()
  for (const bytes of [wire.sent(), wire.answered()])
    for (const text of [secret, 'Bearer', 'system:bootstrap']) assert.ok(!bytes.includes(text), text)
})

test('who answers in the place of the API gets no request to see', async t => {
  const impostor = await startApi(t, attackerPair)
  await assert.rejects(ask(node(t, impostor.port)), error => hasCode(error, 'API_UNREACHABLE'))
  assert.equal(impostor.served(), 0)
})

for (const victim of ['node', 'api'] as const) {
  test(`what the ${victim} sends cannot be changed under way: the connection ends, and nothing is acted on`, async t => {
    const api = await startApi(t, apiPair)
    let changed = 0
    const wire = await startWire(t, api.port, (piece, from) => {
      // Both begin with a hello in the clear (0x16); without it there is nothing to attack.
      if (from !== victim || piece[0] === 0x16) return piece
      changed++
      return Buffer.concat([piece.subarray(0, -1), Buffer.of((piece.at(-1) ?? 0) ^ 1)])
    })
    await assert.rejects(ask(node(t, wire.port)), error => hasCode(error, 'API_UNREACHABLE'))
    assert.ok(changed > 0)
    if (victim === 'node') assert.equal(api.served(), 0)
  })
}

test('who sends a recorded connection once more has no second request served', async t => {
  const api = await startApi(t, apiPair)
  const wire = await startWire(t, api.port)
  await ask(node(t, wire.port))
  const before = api.served()
  assert.ok(before > 0)
  const replay = connect(api.port, '127.0.0.1')
  replay.on('error', () => {}) // the API hangs up
  replay.resume().end(wire.sent())
  await once(replay, 'close')
  assert.equal(api.served(), before)
})

test('an old version of TLS is not spoken, whoever proposes it', async t => {
  const api = await startApi(t, apiPair)
  const old = connectTls({
    host: '127.0.0.1',
    port: api.port,
    ca: apiPair.certificate,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    // OpenSSL itself offers them only at its lowest security level.
    ciphers: 'DEFAULT:@SECLEVEL=0',
  })
  t.after(() => old.destroy())
  const [error] = await once(old, 'error')
  assert.match(String(error), /alert protocol version/)
})
