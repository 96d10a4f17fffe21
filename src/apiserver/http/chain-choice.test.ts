import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { systemClock } from '../../host/clock.ts'
import { Secret } from '../../keys/secret.ts'
import type { Peer } from '../../kube/transport.ts'
import { connectUndici } from '../../kube/undici-transport.ts'
import { silentLog } from '../../ports.ts'
import { foreignPair } from '../../testing/https-server.ts'
import type { Api } from '../api.ts'
import { smallApi } from '../testing/small-api.ts'
import type { ServedChain } from './chain-choice.ts'
import { serve } from './server.ts'

const pairs = { old: await foreignPair('old'), new: await foreignPair('new') }
const chainOf = (id: 'old' | 'new'): ServedChain => {
  return { id, certificate: pairs[id].certificate, key: new Secret(pairs[id].key) }
}
const oldChain = chainOf('old')
const newChain = chainOf('new')

test('each connection is served with the chain chosen for it, those that are open keep theirs, and requests tell which', async t => {
  const peers: Peer[] = []
  const inner = smallApi().api
  const api: Api = {
    ...inner,
    handle(request, peer) {
      peers.push(peer)
      return inner.handle(request, peer)
    },
  }
  let chosen = oldChain
  const server = await serve({
    api,
    port: 0,
    tls: { certificate: '', key: new Secret(''), clientCertificateAuthorities: '' },
    chains: {
      forConnection: () => chosen,
      forName: name => (name === 'new.example' ? newChain : undefined),
      clientCertificateAuthorities: () => pairs.old.certificate,
    },
    clock: systemClock,
    log: silentLog,
  })
  t.after(() => server.close())
  const client = (id: 'old' | 'new', tlsServerName?: string) => {
    const transport = connectUndici({
      server: `https://127.0.0.1:${server.port}`,
      certificateAuthority: pairs[id].certificate,
      ...(tlsServerName && { tlsServerName }),
    })
    t.after(() => transport.closeConnections())
    return transport
  }
  const ask = { method: 'GET', url: '/version', headers: {} }
  const early = client('old')
  await early.request(ask)
  await client('new', 'new.example').request(ask)
  chosen = newChain
  await client('new').request(ask)
  await assert.rejects(client('old').request(ask), /self-signed|unable to verify|signature/)
  await early.request(ask)
  assert.deepEqual(
    peers.map(({ chain }) => chain),
    ['old', 'new', 'new', 'old'],
  )
  assert.equal(
    server.connections.retire(({ chain }) => chain === 'old'),
    1,
  )
  await setImmediate() // the client takes its connection back only then
  const last = await early.request(ask)
  assert.equal(last.headers.connection, 'close')
  await assert.rejects(early.request(ask), /self-signed|unable to verify|signature/)
})
