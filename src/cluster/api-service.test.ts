import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KubeObject, resources } from '../kube/types.ts'
import { startEmbeddedCluster } from '../testing/embedded-cluster.ts'
import { publishApiService } from './api-service.ts'

type Slice = KubeObject & { ports: { port: number }[]; endpoints: { addresses: string[] }[] }
type Service = KubeObject & { spec: { clusterIP: string; ports: { targetPort: number }[] } }

test('the service kubernetes has the first address, and its slice follows the API to another port', async () => {
  const cluster = await startEmbeddedCluster()
  try {
    const target = { name: 'kubernetes', namespace: 'default' }
    const slice = () => cluster.admin.get<Slice>(resources.endpointSlices, target)
    await publishApiService(cluster.admin, '127.0.0.1', 6443)
    const service = await cluster.admin.get<Service>(resources.services, target)
    assert.equal(service.spec.clusterIP, '10.96.0.1')
    const before = await slice()
    assert.deepEqual(
      [before.endpoints[0]?.addresses, before.ports],
      [['127.0.0.1'], [{ name: 'https', protocol: 'TCP', port: 6443 }]],
    )
    await publishApiService(cluster.admin, '127.0.0.1', 6443)
    assert.equal((await slice()).metadata.resourceVersion, before.metadata.resourceVersion)
    await publishApiService(cluster.admin, '127.0.0.1', 7443)
    assert.equal((await slice()).ports[0]?.port, 7443)
  } finally {
    await cluster.close()
  }
})
