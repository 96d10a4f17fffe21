import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../src/apiserver/resources/pod-columns.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import {
  type CertificateSigningRequest,
  type KubeNode,
  type Lease,
  resources,
  type Secret,
  signerNames,
} from '../../src/kube/types.ts'
import { type Ask, type ControlledCluster, calm, onCluster } from '../../src/testing/controlled-cluster.ts'

// SECURITY.md, adversary 1: whoever is root on a node holds its client certificate. It tries everything that would make it
// more than that node, against the real API and the real controllers.

const kubeSystem = 'kube-system'
const podOf = (nodeName: string, secretName: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `on-${nodeName}`, namespace: kubeSystem },
  spec: {
    nodeName,
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', secret: { secretName } }],
  },
})
const secretNamed = (name: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: kubeSystem },
})

interface Scene {
  cluster: ControlledCluster
  thief: KubeClient
  /** A serving request of the victim that waits. */
  waiting: string
}

/** Two nodes with a pod and its Secret each, and the thief's own identity. */
function onNodes(run: (scene: Scene) => Promise<void>): () => Promise<void> {
  return onCluster(async cluster => {
    const { admin } = cluster
    for (const [node, address] of [
      ['victim', '10.0.0.1'],
      ['thief', '10.0.0.2'],
    ] as const) {
      await cluster.register(node, [
        ['InternalIP', address],
        ['Hostname', node],
      ])
      await admin.create(resources.secrets, secretNamed(`of-${node}`))
      await admin.create(resources.pods, podOf(node, `of-${node}`))
    }
    const thief = await cluster.node('thief')
    const waiting = await cluster.ask({ by: await cluster.node('victim'), node: 'victim', ips: ['10.0.0.1'] })
    await run({ cluster, thief, waiting })
  })
}

const thefts: [what: string, ask: Omit<Ask, 'by'>, answer: string | RegExp][] = [
  ['the address of the API inside the cluster', { node: 'thief', ips: ['10.96.0.1'] }, 'Denied ReservedName'],
  ['the name of the API', { node: 'thief', dns: ['kubernetes.default.svc'], ips: ['10.0.0.2'] }, /^Denied/],
  ['loopback', { node: 'thief', ips: ['127.0.0.1'] }, 'Denied ReservedName'],
  ['the address of another node', { node: 'thief', ips: ['10.0.0.1'] }, 'Denied OwnedByOtherNode'],
  ['its own address and another’s', { node: 'thief', ips: ['10.0.0.2', '10.0.0.1'] }, /^Denied/],
  ['the name of another node', { node: 'thief', dns: ['victim'], ips: ['10.0.0.2'] }, /^Denied/],
  ['all names', { node: 'thief', dns: ['*.example.com'], ips: ['10.0.0.2'] }, /^Denied/],
]
for (const [what, ask, answer] of thefts) {
  test(
    `a serving certificate for ${what} is never issued`,
    onNodes(async ({ cluster, thief }) => {
      await cluster.start()
      const fate = await cluster.fate(await cluster.ask({ ...ask, by: thief }))
      if (typeof answer === 'string') assert.equal(fate, answer)
      else assert.match(fate, answer)
      assert.doesNotMatch(fate, /issued/)
    }),
  )
}

test(
  'what it asks for within its rights it gets: the refusals above are no refusals of everything',
  onNodes(async ({ cluster, thief }) => {
    await cluster.start()
    const own = await cluster.ask({ by: thief, node: 'thief', dns: ['thief'], ips: ['10.0.0.2'] })
    assert.equal(await cluster.fate(own), 'Approved SansProven, issued')
  }),
)

test(
  'an address that it claims in its own Node after another node did stays the other’s',
  onNodes(async ({ cluster, thief }) => {
    await cluster.start()
    const node = await thief.get<KubeNode>(resources.nodes, { name: 'thief' })
    const addresses = [
      ...(node.status?.addresses ?? []),
      { type: 'InternalIP', address: '10.0.0.1' } as const,
    ]
    await thief.update(
      resources.nodes,
      { ...node, status: { ...node.status, addresses } },
      { subresource: 'status' },
    )
    await calm()
    const theft = await cluster.ask({ by: thief, node: 'thief', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(theft), 'Denied OwnedByOtherNode')
  }),
)

const csr = (signerName: string, name: string): Omit<Ask, 'by'> => ({ node: name, signerName })
const lease = { name: 'victim', namespace: 'kube-node-lease' }
const forbidden: [what: string, attack: (scene: Scene) => Promise<unknown>][] = [
  [
    'a client certificate in the name of another node',
    ({ cluster, thief }) => cluster.ask({ by: thief, ...csr(signerNames.kubeletClient, 'victim') }),
  ],
  [
    'a client certificate of the administrators',
    ({ cluster, thief }) =>
      cluster.ask({
        by: thief,
        ...csr(signerNames.apiserverClient, 'thief'),
        organizations: ['system:masters'],
      }),
  ],
  [
    'approving a request',
    async ({ cluster, thief, waiting }) => {
      const request = await cluster.read(waiting)
      const condition = { type: 'Approved', status: 'True' as const, reason: 'Thief' }
      const status = { conditions: [condition] }
      const approved: CertificateSigningRequest = { ...request, status }
      await thief.update(resources.certificateSigningRequests, approved, { subresource: 'approval' })
    },
  ],
  [
    'signing a request',
    async ({ cluster, thief, waiting }) => {
      const request = await cluster.read(waiting)
      const signed = { ...request, status: { certificate: Buffer.from('x').toString('base64') } }
      await thief.update(resources.certificateSigningRequests, signed, { subresource: 'status' })
    },
  ],
  [
    'deleting the request of another node',
    ({ thief, waiting }) => thief.delete(resources.certificateSigningRequests, { name: waiting }),
  ],
  [
    'the addresses of another Node',
    async ({ cluster, thief }) => {
      const node = await cluster.admin.get<KubeNode>(resources.nodes, { name: 'victim' })
      await thief.update(resources.nodes, { ...node, status: { addresses: [] } }, { subresource: 'status' })
    },
  ],
  ['deleting another Node', ({ thief }) => thief.delete(resources.nodes, { name: 'victim' })],
  [
    'deleting its own Node, to come back without its labels',
    ({ thief }) => thief.delete(resources.nodes, { name: 'thief' }),
  ],
  [
    'a label that says where it may be trusted',
    async ({ thief }) => {
      const node = await thief.get<KubeNode>(resources.nodes, { name: 'thief' })
      const labels = { ...node.metadata.labels, 'node-restriction.kubernetes.io/trusted': 'yes' }
      await thief.update(resources.nodes, { ...node, metadata: { ...node.metadata, labels } })
    },
  ],
  [
    'the heartbeat of another node',
    async ({ cluster, thief }) => {
      const object: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: lease }
      const made = await cluster.admin.create<Lease>(resources.leases, object)
      await thief.update(resources.leases, { ...made, spec: { holderIdentity: 'thief' } })
    },
  ],
  [
    'the Secret of a pod on another node',
    ({ thief }) => thief.get(resources.secrets, { name: 'of-victim', namespace: kubeSystem }),
  ],
  [
    'the bootstrap token',
    ({ thief }) => thief.get(resources.secrets, { name: 'bootstrap-token-abcdef', namespace: kubeSystem }),
  ],
  ['all Secrets', ({ thief }) => thief.list(resources.secrets, { namespace: kubeSystem })],
  [
    'a Secret by way of a pod that it makes itself',
    ({ thief }) => {
      const pod = podOf('thief', 'of-victim')
      return thief.create(resources.pods, { ...pod, metadata: { ...pod.metadata, name: 'theft' } })
    },
  ],
  [
    'rights',
    ({ thief }) =>
      thief.create(resources.clusterRoleBindings, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'theft' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'system:node:thief' }],
      }),
  ],
]
for (const [what, attack] of forbidden) {
  test(
    `${what}: forbidden to a node`,
    onNodes(async scene => {
      await assert.rejects(attack(scene), { message: /is forbidden: .* \(403 Forbidden\)/s })
    }),
  )
}

test(
  'the Secret of its own pod it may read',
  onNodes(async ({ thief }) => {
    const { metadata } = await thief.get(resources.secrets, { name: 'of-thief', namespace: kubeSystem })
    assert.equal(metadata.name, 'of-thief')
  }),
)
