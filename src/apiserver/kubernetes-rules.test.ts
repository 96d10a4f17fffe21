/** Rules of Kubernetes' behaviour that no part of the API can keep alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../keys/private-key.ts'
import type { Transport } from '../kube/transport.ts'
import { type KubeObject, resources, signerNames } from '../kube/types.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../testing/embedded-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signedRequest } from '../testing/signed-request.ts'

function inCluster(run: (cluster: EmbeddedCluster) => Promise<void>): () => Promise<void> {
  return async () => {
    const cluster = await startEmbeddedCluster()
    try {
      await run(cluster)
    } finally {
      await cluster.close()
    }
  }
}

async function ask(by: Transport, method: string, url: string, body?: unknown, type = 'application/json') {
  const headers = { 'content-type': type }
  const bytes = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }
  const answer = await by.request({ method, url, headers, ...bytes })
  const text = Buffer.from(answer.body as Uint8Array).toString()
  return { status: answer.status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined }
}

const asAdmin = (cluster: EmbeddedCluster) => cluster.transportAs('admin', 'system:masters')
const csrs = 'certificatesigningrequests'

test(
  'W-7: requests are not served in v1beta1, so that a client that falls back to it gets 404 there too',
  inCluster(async cluster => {
    const admin = await asAdmin(cluster)
    const body = { kind: 'CertificateSigningRequest', metadata: { name: 'x' } }
    const { status } = await ask(admin, 'POST', `/apis/certificates.k8s.io/v1beta1/${csrs}`, body)
    assert.equal(status, 404)
  }),
)

test(
  'W-6: a list has pages, an older state, selectors by inequality, and versions that are whole numbers',
  inCluster(async cluster => {
    const { admin } = cluster
    const service = (name: string, clusterIP?: string) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'default' },
      spec: { ports: [{ port: 80 }], ...(clusterIP && { clusterIP }) },
    })
    for (const name of ['a', 'b', 'c']) await admin.create<KubeObject>(resources.services, service(name))
    await admin.create<KubeObject>(resources.services, service('headless', 'None'))
    const names = ({ items }: { items: KubeObject[] }) => items.map(({ metadata }) => metadata.name)
    const routed = await admin.list(resources.services, { fieldSelector: 'spec.clusterIP!=None' })
    assert.deepEqual(names(routed), ['a', 'b', 'c'])
    const first = await admin.list(resources.services, { limit: 2, resourceVersion: '0' })
    assert.deepEqual(names(first), ['a', 'b'])
    await admin.delete(resources.services, { name: 'c', namespace: 'default' })
    const rest = await admin.list(resources.services, { limit: 2, continue: first.metadata.continue ?? '' })
    assert.deepEqual(names(rest), ['c', 'headless'])
    assert.equal(rest.metadata.resourceVersion, first.metadata.resourceVersion)
    for (const { metadata } of [...first.items, first]) assert.match(metadata.resourceVersion ?? '', /^\d+$/)
  }),
)

test(
  'A-3b: server-side apply, whose fields would be reset, is refused with 415',
  inCluster(async cluster => {
    const url = `/apis/certificates.k8s.io/v1/${csrs}/x?fieldManager=m`
    const { status, json } = await ask(
      await asAdmin(cluster),
      'PATCH',
      url,
      {},
      'application/apply-patch+yaml',
    )
    assert.deepEqual([status, json.reason], [415, 'UnsupportedMediaType'])
  }),
)

test(
  'A-54: the API takes a node’s serving request whatever its SANs: judging them is the approver’s work',
  inCluster(async cluster => {
    const pem = await signedRequest({
      signer: generateSigner('Ed25519', seededRandom(5)),
      commonName: 'system:node:n1',
      organizations: ['system:nodes'],
      subjectAltName: { dnsNames: ['kubernetes.default', 'other-node'], ipAddresses: [] },
    })
    const node = await cluster.node('n1')
    const created = await node.create(resources.certificateSigningRequests, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'x' },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName: signerNames.kubeletServing,
        usages: ['digital signature', 'server auth'],
      },
    } as KubeObject)
    assert.ok(created.metadata.uid)
  }),
)

test(
  'W-6: every list that a kubelet asks for at its start is there for it',
  inCluster(async cluster => {
    const kubelet = await cluster.transportAs('system:node:n1', 'system:nodes')
    const lists = [
      '/api/v1/nodes?fieldSelector=metadata.name%3Dn1',
      '/api/v1/services?fieldSelector=spec.clusterIP%21%3DNone',
      '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1',
      '/apis/node.k8s.io/v1/runtimeclasses',
      '/apis/storage.k8s.io/v1/csidrivers',
    ].map(url => `${url}${url.includes('?') ? '&' : '?'}limit=500&resourceVersion=0`)
    for (const url of lists) assert.equal((await ask(kubelet, 'GET', url)).status, 200, url)
    assert.equal(
      (await ask(kubelet, 'GET', '/apis/storage.k8s.io/v1/csinodes/n1?resourceVersion=0')).status,
      404,
    )
    const csiNode = { metadata: { name: 'n1' }, spec: { drivers: [] } }
    assert.equal((await ask(kubelet, 'POST', '/apis/storage.k8s.io/v1/csinodes', csiNode)).status, 201)
  }),
)

test(
  'A-42: nothing is shipped or allowed of what OpenShift adds',
  inCluster(async cluster => {
    const lists = await Promise.all([
      cluster.admin.list(resources.clusterRoles),
      cluster.admin.list(resources.clusterRoleBindings),
    ])
    const names = lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name))
    assert.ok(names.includes('system:public-info-viewer'))
    assert.deepEqual(
      names.filter(name => name.includes('openshift')),
      [],
    )
    const node = await cluster.transportAs('system:node:a', 'system:nodes')
    const labels = { 'node.openshift.io/os_id': 'rhcos', 'node-role.kubernetes.io/worker': '' }
    const { status, json } = await ask(node, 'POST', '/api/v1/nodes', { metadata: { name: 'a', labels } })
    assert.equal(status, 403)
    assert.match(json.message, /node-role\.kubernetes\.io\/worker/)
  }),
)

test(
  'T-3: PodCertificateRequest is not served, as where its feature gate is off',
  inCluster(async cluster => {
    const admin = await asAdmin(cluster)
    const group = '/apis/certificates.k8s.io/v1beta1'
    for (const url of [
      `${group}/podcertificaterequests`,
      `${group}/namespaces/default/podcertificaterequests`,
    ]) {
      const { status, json } = await ask(admin, 'GET', url)
      assert.deepEqual([status, json.message], [404, 'the server could not find the requested resource'])
    }
    const { json } = await ask(admin, 'GET', group)
    assert.deepEqual(
      json.resources.map(({ name }: { name: string }) => name),
      ['clustertrustbundles'],
    )
  }),
)
