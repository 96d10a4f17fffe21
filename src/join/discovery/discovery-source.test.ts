import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { Api } from '../../apiserver/api.ts'
import { serve } from '../../apiserver/http/server.ts'
import { publishClusterInfo } from '../../cluster/cluster-info.ts'
import { systemClock } from '../../host/clock.ts'
import { systemDisk } from '../../host/disk.ts'
import { Secret } from '../../keys/secret.ts'
import { type ConfigMap, resources } from '../../kube/types.ts'
import { connectUndici } from '../../kube/undici-transport.ts'
import { silentLog } from '../../ports.ts'
import { type ControlledCluster, calm, onCluster } from '../../testing/controlled-cluster.ts'
import { type ForeignPair, foreignPair } from '../../testing/https-server.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { type DiscoverySourceOptions, discoverySource } from './discovery-source.ts'
import { parsePin } from './parse-pin.ts'

const good = 'abcdef.0123456789abcdef'
const target = { name: 'cluster-info', namespace: 'kube-public' }
const pinsOf = (pem: string) =>
  parseCertificatesPem(pem).map(({ spki }) => parsePin(`sha256:${sha256Hex(spki).toUpperCase()}`))
const pinOf = (pem: string) => pinsOf(pem)[0] ?? assert.fail('no certificate')

interface Scene {
  cluster: ControlledCluster
  pair: ForeignPair
  pin: string
  /** The CAs that the cluster says it has. */
  publish(bundle: string): Promise<void>
  /** The pins of what is trusted, or why nothing is. */
  discover(changes?: Partial<DiscoverySourceOptions>): Promise<{ trusted?: string[]; why: string }>
  token(text: string, mode?: number): void
  /** Bearer tokens that reached the server. */
  sent: string[]
  /** Changes answers of the server. */
  between: { change?: ((body: ConfigMap) => void) | undefined }
}

/** The embedded API over TLS, its cluster-info signed by the controller, and a machine that knows nothing of it. */
const onScene = (run: (scene: Scene) => Promise<void>) =>
  onCluster(async cluster => {
    const pair = await foreignPair('apiserver')
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-discovery-'))
    const tokenFile = join(folder, 'token')
    const sent: string[] = []
    const between: Scene['between'] = {}
    const tls = { ...pair, key: new Secret(pair.key), clientCertificateAuthorities: cluster.ca.pem }
    const api = inBetween(cluster.api, between, sent)
    const server = await serve({ api, port: 0, tls, clock: systemClock, log: silentLog })
    const token = (text: string, mode = 0o600) => {
      writeFileSync(tokenFile, text, { mode: 0o600 })
      chmodSync(tokenFile, mode)
    }
    const url = `https://127.0.0.1:${server.port}`
    try {
      await cluster.start({ only: ['bootstrap-signing'] })
      token(`${good}\n`)
      await run({
        cluster,
        pair,
        pin: pinOf(pair.certificate),
        token,
        sent,
        between,
        async publish(bundle) {
          await publishClusterInfo(cluster.admin, url, bundle)
          await calm()
        },
        async discover(changes = {}) {
          const source = discoverySource({
            server: url,
            tokenFile,
            pins: [pinOf(pair.certificate)],
            connect: connectUndici,
            disk: systemDisk,
            clock: cluster.clock,
            ...changes,
          })
          const acquired = await source.acquire({ reason: 'initial', nodeName: 'n1' })
          if (!acquired.ok) return { why: `${acquired.reason}: ${acquired.message}` }
          const { connection } = acquired.credential
          assert.equal(connection.server, url)
          assert.equal(connection.bearerToken?.reveal(), good)
          return { trusted: pinsOf(connection.certificateAuthority ?? ''), why: 'found' }
        },
      })
      assert.deepEqual(sent, [], 'the token was sent while the server was not proven')
    } finally {
      await server.close()
      rmSync(folder, { recursive: true })
    }
  })

function inBetween(api: Api, between: Scene['between'], sent: string[]): Api {
  return {
    ...api,
    async handle(request, peer) {
      if (request.headers.authorization) sent.push(request.headers.authorization)
      const response = await api.handle(request, peer)
      if (!between.change || !(response.body instanceof Uint8Array)) return response
      const body = JSON.parse(new TextDecoder().decode(response.body)) as ConfigMap
      between.change(body)
      return { ...response, body: new TextEncoder().encode(JSON.stringify(body)) }
    },
  }
}

suite('kubeadm discovery', () => {
  test(
    'the signed cluster-info gives the server, its CA and the token',
    onScene(async ({ pair, publish, discover }) => {
      await publish(pair.certificate)
      assert.deepEqual((await discover()).trusted, pinsOf(pair.certificate))
      assert.equal((await discover({ pins: [] })).why, 'found')
    }),
  )

  test(
    'with another pin nothing is trusted',
    onScene(async ({ pair, publish, discover }) => {
      await publish(pair.certificate)
      assert.match(
        (await discover({ pins: ['0'.repeat(64)] })).why,
        /^Invalid: none of the 1 CAs .* is pinned/,
      )
    }),
  )

  test(
    'a token of another secret, of another id and one that is none are told apart',
    onScene(async ({ pair, publish, discover, token }) => {
      await publish(pair.certificate)
      token('abcdef.fedcba9876543210')
      assert.match((await discover()).why, /^Invalid: the signature of token "abcdef" .* is wrong/)
      token('zzzzzz.0123456789abcdef')
      assert.match((await discover()).why, /^Waiting: .* not signed by token "zzzzzz"/)
      token('hello')
      assert.match((await discover()).why, /^Invalid: .* no bootstrap token/)
      token(good, 0o644)
      assert.match((await discover()).why, /^Unreadable: others may read/)
    }),
  )

  test(
    'a changed kubeconfig, signature or algorithm is refused',
    onScene(async ({ pair, publish, discover, between }) => {
      await publish(pair.certificate)
      const none = Buffer.from(JSON.stringify({ alg: 'none', kid: 'abcdef' })).toString('base64url')
      const changes: ((data: Record<string, string>) => void)[] = [
        data => Object.assign(data, { kubeconfig: `${data.kubeconfig}# more\n` }),
        data => Object.assign(data, { 'jws-kubeconfig-abcdef': `${data['jws-kubeconfig-abcdef']}A` }),
        data => Object.assign(data, { 'jws-kubeconfig-abcdef': `${none}..` }),
      ]
      for (const change of changes) {
        between.change = ({ data }) => change(data ?? {})
        assert.match((await discover()).why, /^Invalid: the signature/)
      }
      let asked = 0
      between.change = ({ data }) => {
        if (asked++ > 0) Object.assign(data ?? {}, { kubeconfig: 'other' })
      }
      assert.match((await discover()).why, /^Invalid: .* another one over the connection/)
    }),
  )

  test(
    'of two CAs only the pinned one is trusted; a pin of each trusts both, whichever comes first',
    onScene(async ({ cluster, pair, publish, discover }) => {
      await publish(`${cluster.ca.pem}${pair.certificate}`)
      assert.deepEqual((await discover()).trusted, pinsOf(pair.certificate))
      const both = [pinOf(cluster.ca.pem), pinOf(pair.certificate)]
      assert.deepEqual((await discover({ pins: both })).trusted, both)
      assert.equal((await discover({ pins: both.toReversed() })).why, 'found')
    }),
  )

  test(
    'a server that has no certificate of the CA found gets no token',
    onScene(async ({ cluster, publish, discover }) => {
      await publish(cluster.ca.pem)
      assert.match((await discover({ pins: [pinOf(cluster.ca.pem)] })).why, /^Waiting: .*certificate/)
    }),
  )

  test(
    'a CA that is renewed, and a token that comes later, are found by the next attempt',
    onScene(async ({ cluster, pair, publish, discover }) => {
      await publish(cluster.ca.pem)
      assert.match((await discover()).why, /^Invalid/)
      await publish(`${cluster.ca.pem}${pair.certificate}`)
      assert.equal((await discover()).why, 'found')
      const { data } = await cluster.admin.get<ConfigMap>(resources.configMaps, target)
      assert.ok(data?.['jws-kubeconfig-abcdef'])
    }),
  )

  test('a pin of another form is refused', () => {
    for (const pin of ['', 'sha1:00', `sha256:${'0'.repeat(63)}`, `sha256:${'g'.repeat(64)}`])
      assert.throws(() => parsePin(pin), { code: 'USAGE' })
  })
})
