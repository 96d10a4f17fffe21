/** Against real TLS servers on addresses of 127.0.0.0/8, one for each node. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { issueSelfSigned, selfSignedTemplate } from '../agent/self-signed-serving.ts'
import { serveHttps } from '../agent/serve-https.ts'
import type { ServingPair } from '../agent/serving.ts'
import { lookAtTls } from '../cluster/look-at-tls.ts'
import { serverCertificate } from '../doctor/testing/examined-cluster.ts'
import { generateSigner } from '../keys/private-key.ts'
import { type KubeNode, resources } from '../kube/types.ts'
import { type ControlledCluster, calm, onCluster } from '../testing/controlled-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'

const key = generateSigner('ECDSA-P256', seededRandom(101))

async function nodeServing(cluster: ControlledCluster, index: number, pair: ServingPair | undefined) {
  const address = `127.0.2.${index}`
  const handle = async () => ({ status: 404, headers: {}, body: new Uint8Array() })
  const server = await serveHttps({ address, port: 0, getCertificate: () => pair, handle })
  const name = `node-${index}`
  await cluster.register(name, [['InternalIP', address]])
  const node = await cluster.admin.get<KubeNode>(resources.nodes, { name })
  const status = { ...node.status, daemonEndpoints: { kubeletEndpoint: { Port: server.port } } }
  await cluster.admin.update(resources.nodes, { ...node, status }, { subresource: 'status' })
  return server
}

test(
  'what each node serves becomes the number of nodes that do',
  onCluster(async cluster => {
    const { clock } = cluster
    const issued = async (ips: string[], notAfter = clock.now() + 3_600_000): Promise<ServingPair> => {
      const notBefore = clock.now() - 7_200_000
      return {
        chain: await serverCertificate(cluster, { key, ips, notBefore, notAfter }),
        key: key.exportPem(),
      }
    }
    const template = selfSignedTemplate('node-3', 'ECDSA-P256')
    const ports = { clock, random: seededRandom(102) }
    const servers = [
      await nodeServing(cluster, 1, await issued(['127.0.2.1'])),
      await nodeServing(cluster, 2, await issued(['127.0.2.9'])),
      await nodeServing(cluster, 3, await issueSelfSigned(template, 'ECDSA-P256', ports)),
      await nodeServing(cluster, 4, undefined),
      await nodeServing(cluster, 5, await issued(['127.0.2.5'], clock.now() - 60_000)),
    ]
    const metrics = new Registry()
    let looking = 0
    const look: typeof lookAtTls = async target => {
      looking++
      return lookAtTls(target).finally(() => looking--)
    }
    const probes = { look, intervalSeconds: 60, loopback: true }
    const running = await cluster.start({ metrics, only: [], probes })
    const page = async () => (await metrics.metrics()).match(/rollcall_node_serving\{.*/g)
    // Handshakes take real time, the pauses between them that of the cluster's clock.
    while ((await page()) === null) {
      if (looking === 0) await clock.advance(1000)
      await calm()
      await new Promise(resolve => setImmediate(resolve))
    }
    assert.deepEqual(await page(), [
      'rollcall_node_serving{state="valid"} 1',
      'rollcall_node_serving{state="expired"} 1',
      'rollcall_node_serving{state="self_signed"} 1',
      'rollcall_node_serving{state="missing"} 1',
      'rollcall_node_serving{state="san_mismatch"} 1',
      'rollcall_node_serving{state="unreachable"} 0',
    ])
    await running.stop()
    assert.equal(await page(), null, 'who does not lead tells nothing')
    await Promise.all(servers.map(server => server.close()))
  }),
)
