import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatus } from '../kube/client.ts'
import { type ConfigMap, type Namespace, resources, type Secret } from '../kube/types.ts'
import { calm, onCluster } from '../testing/controlled-cluster.ts'

test(
  'C-50: every namespace has the root CA; it is repaired and made again',
  onCluster(async cluster => {
    await cluster.start()
    const target = { name: 'kube-root-ca.crt', namespace: 'default' }
    const published = () => cluster.admin.get<ConfigMap>(resources.configMaps, target)
    assert.deepEqual((await published()).data, { 'ca.crt': cluster.ca.pem })
    await cluster.admin.update(resources.configMaps, { ...(await published()), data: { 'ca.crt': 'evil' } })
    await calm()
    assert.deepEqual((await published()).data, { 'ca.crt': cluster.ca.pem })
    await cluster.admin.delete(resources.configMaps, target)
    await calm()
    assert.deepEqual((await published()).data, { 'ca.crt': cluster.ca.pem })
    await cluster.admin.create<Namespace>(resources.namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'new' },
    })
    await calm()
    const inNew = await cluster.admin.get<ConfigMap>(resources.configMaps, { ...target, namespace: 'new' })
    assert.deepEqual(inNew.data, { 'ca.crt': cluster.ca.pem })
  }),
)

test(
  'C-60, C-61: cluster-info is signed by the token, and no more once the token expired and is deleted',
  onCluster(async cluster => {
    await cluster.start()
    const clusterInfo = () =>
      cluster.admin.get<ConfigMap>(resources.configMaps, { name: 'cluster-info', namespace: 'kube-public' })
    const secret = { name: 'bootstrap-token-abcdef', namespace: 'kube-system' }
    assert.match((await clusterInfo()).data?.['jws-kubeconfig-abcdef'] ?? '', /^[\w-]+\.\.[\w-]+$/)
    await cluster.admin.get<Secret>(resources.secrets, secret)
    await cluster.clock.advance(24 * 3_600_000 + 1)
    await calm()
    assert.deepEqual(Object.keys((await clusterInfo()).data ?? {}), ['kubeconfig'])
    await assert.rejects(cluster.admin.get(resources.secrets, secret), error => isStatus(error, 'NotFound'))
  }),
)

test(
  'every namespace has a ServiceAccount default, a new one too; it is made again',
  onCluster(async cluster => {
    await cluster.start()
    const target = { name: 'default', namespace: 'default' }
    const uid = async (namespace: string) =>
      (await cluster.admin.get(resources.serviceAccounts, { ...target, namespace })).metadata.uid
    const first = await uid('default')
    await cluster.admin.delete(resources.serviceAccounts, target)
    await calm()
    assert.notEqual(await uid('default'), first)
    await cluster.admin.create<Namespace>(resources.namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'new' },
    })
    await calm()
    assert.ok(await uid('new'))
  }),
)
