import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePolicies } from '../../src/approve/policy-document.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import type {
  CertificatePolicy,
  CertificatePolicySpec,
} from '../../src/kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies } from '../../src/kube/rollcall/certificate-policy.ts'
import { type PolicyRule, signerNames } from '../../src/kube/types.ts'
import { type ControlledCluster, calm, onCluster } from '../../src/testing/controlled-cluster.ts'

// SECURITY.md, adversary 2: who may write CertificatePolicies, and wants certificates that the policy in force refuses.

const writing: PolicyRule = {
  apiGroups: ['rollcall.dev'],
  resources: ['certificatepolicies', 'certificatepolicies/status'],
  verbs: ['get', 'list', 'create', 'update', 'patch', 'delete', 'deletecollection'],
}
const approving = (...resourceNames: string[]): PolicyRule => ({
  apiGroups: ['certificates.k8s.io'],
  resources: ['signers'],
  resourceNames,
  verbs: ['approve'],
})
const policy = (name: string, spec: CertificatePolicySpec | object): CertificatePolicy => ({
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'CertificatePolicy',
  metadata: { name },
  spec,
})
/** Nothing is proven by it. */
const strict: CertificatePolicySpec = { evidence: 'Inventory', inventory: { configMap: 'kube-system/none' } }

interface Scene {
  cluster: ControlledCluster
  mallory: KubeClient
}

/** A cluster whose policy approves nothing, with the controllers on it, and a writer with these rights besides. */
function against(rights: PolicyRule[], run: (scene: Scene) => Promise<void>): () => Promise<void> {
  return onCluster(async cluster => {
    await cluster.admin.create(certificatePolicies, policy('default', strict))
    await cluster.start({ approvalPolicy: undefined })
    await cluster.grant('writer', [writing, ...rights])
    await run({ cluster, mallory: await cluster.as('writer') })
    await cluster.register('worker-1', [['InternalIP', '10.0.0.11']])
    const csr = await cluster.ask({
      by: await cluster.node('worker-1'),
      node: 'worker-1',
      ips: ['10.0.0.11'],
    })
    assert.equal(await cluster.fate(csr), 'pending', 'the policy that was in force still is')
  })
}

async function lax({ mallory }: Scene): Promise<void> {
  const stored = await mallory.get<CertificatePolicy>(certificatePolicies, { name: 'default' })
  await mallory.update(certificatePolicies, { ...stored, spec: { preset: 'lab' } })
}
const writes: [what: string, attack: (scene: Scene) => Promise<unknown>][] = [
  ['by an edit', lax],
  [
    'by a patch',
    ({ mallory }) =>
      mallory.patch(certificatePolicies, { name: 'default' }, 'merge', { spec: { evidence: 'NodeStatus' } }),
  ],
  [
    'by a label',
    ({ mallory }) =>
      mallory.patch(certificatePolicies, { name: 'default' }, 'merge', { metadata: { labels: { a: 'b' } } }),
  ],
  ['by deleting it', ({ mallory }) => mallory.delete(certificatePolicies, { name: 'default' })],
  ['by a new one', ({ mallory }) => mallory.create(certificatePolicies, policy('lax', { preset: 'lab' }))],
  [
    'by a shadow',
    ({ mallory }) =>
      mallory.create(certificatePolicies, policy('next', { shadowOf: 'default', preset: 'lab' })),
  ],
]
const halves: [what: string, rights: PolicyRule[]][] = [
  ['no right to approve', []],
  ['the right for one of the two signers', [approving(signerNames.kubeletServing)]],
  ['the right for another signer', [approving('example.com/*', signerNames.apiserverClient)]],
]
for (const [what, attack] of writes)
  for (const [having, rights] of halves) {
    test(
      `changing what is approved ${what} is forbidden to who has ${having}`,
      against(rights, async scene => {
        await assert.rejects(attack(scene), {
          message: /not permitted to write certificate policies.*\(403 Forbidden\)/s,
        })
      }),
    )
  }

test(
  'deleting all policies at once is forbidden like deleting one',
  against([], async ({ cluster }) => {
    const transport = await cluster.transportAs('writer')
    const url = '/apis/rollcall.dev/v1alpha1/certificatepolicies'
    const { status } = await transport.request({ method: 'DELETE', url, headers: {} })
    assert.equal(status, 403)
  }),
)

test(
  'a status that says another policy is in force puts none in force',
  against([], async ({ cluster, mallory }) => {
    await cluster.admin.create(certificatePolicies, policy('lax', { preset: 'lab' }))
    await calm()
    const stored = await mallory.get<CertificatePolicy>(certificatePolicies, { name: 'lax' })
    const conditions = [{ type: 'InForce', status: 'True', reason: 'InForce', message: '' }] as const
    await mallory.update(
      certificatePolicies,
      { ...stored, spec: strict, status: { conditions } },
      { subresource: 'status' },
    )
    const after = await mallory.get<CertificatePolicy>(certificatePolicies, { name: 'lax' })
    assert.deepEqual(after.spec, { preset: 'lab' }, 'a status write changes no spec')
  }),
)

const both = [approving('kubernetes.io/*')]
const contents: [what: string, spec: object, told: RegExp][] = [
  [
    'a pool by a label that a node sets itself',
    {
      ...strict,
      pools: [{ name: 'a', evidence: 'NodeStatus', nodeLabels: { 'topology.kubernetes.io/zone': 'a' } }],
    },
    /which a node can change/,
  ],
  [
    'a pool by the label kubelets register with',
    {
      ...strict,
      pools: [{ name: 'a', evidence: 'NodeStatus', nodeLabels: { 'node.kubernetes.io/pool': 'a' } }],
    },
    /which a node can change/,
  ],
  [
    'every node as a bootstrap credential',
    { ...strict, bootstrapGroups: ['system:nodes'] },
    /could ask as any node/,
  ],
  [
    'a file on the controller’s disk as inventory',
    { ...strict, inventory: { file: '/etc/shadow' } },
    /does not choose what the controller reads/,
  ],
  [
    'an expression that takes for ever',
    { ...strict, sans: { dnsNames: ['^(([a-z])+.)+$'] } },
    /neither a name nor/,
  ],
  [
    'two pools of one name',
    { ...strict, pools: ['a', 'a'].map(name => ({ name, bootstrapGroups: ['system:bootstrappers:x'] })) },
    /spec\.pools\[1\].*Duplicate value/,
  ],
  [
    'ten thousand pools',
    {
      ...strict,
      pools: Array.from({ length: 10_000 }, (_, n) => ({ name: `p${n}`, bootstrapGroups: ['g'] })),
    },
    /at most 64 items/,
  ],
  [
    'an approval as an action',
    { ...strict, actions: { SanUnproven: 'Approve' } },
    /Unsupported value: "Approve"/,
  ],
  ['the policy in force made a shadow', { ...strict, shadowOf: 'other' }, /is not for the policy in force/],
]
for (const [what, spec, told] of contents) {
  test(
    `also of who may approve is refused: ${what}`,
    against(both, async ({ mallory }) => {
      const stored = await mallory.get<CertificatePolicy>(certificatePolicies, { name: 'default' })
      const error = await mallory
        .update(certificatePolicies, { ...stored, spec })
        .catch((cause: unknown) => cause)
      assert.ok(error instanceof Error && /422 Invalid/.test(error.message), String(error))
      assert.match(error.message, told)
    }),
  )
}

test(
  'a policy of ten megabytes is refused, whoever writes it',
  against(both, async ({ mallory }) => {
    const allowedRanges = Array.from({ length: 800_000 }, () => '10.0.0.0/8')
    await assert.rejects(mallory.create(certificatePolicies, policy('big', { ...strict, allowedRanges })), {
      message: /\(413 |too large|\(422 Invalid\)/,
    })
  }),
)

test(
  'a shadow that stops being one is in force nowhere: the name decides, and that one is there already',
  against(both, async ({ mallory }) => {
    await mallory.create(certificatePolicies, policy('next', { shadowOf: 'default', preset: 'lab' }))
    await calm()
    await mallory.patch(certificatePolicies, { name: 'next' }, 'merge', { spec: { shadowOf: null } })
    await calm()
    const { status } = await mallory.get<CertificatePolicy>(certificatePolicies, { name: 'next' })
    assert.equal(status?.conditions?.find(({ type }) => type === 'InForce')?.reason, 'OtherInForce')
  }),
)

test(
  'who may approve for both signers may write: the refusals above are no refusals of everything',
  onCluster(async cluster => {
    await cluster.admin.create(certificatePolicies, policy('default', strict))
    await cluster.start({ approvalPolicy: undefined })
    await cluster.grant('writer', [writing, approving(signerNames.kubeletServing, signerNames.kubeletClient)])
    await lax({ cluster, mallory: await cluster.as('writer') })
    await cluster.register('worker-1', [['InternalIP', '10.0.0.11']])
    const csr = await cluster.ask({
      by: await cluster.node('worker-1'),
      node: 'worker-1',
      ips: ['10.0.0.11'],
    })
    assert.equal(await cluster.fate(csr), 'Approved SansProven, issued')
  }),
)

const head = 'apiVersion: rollcall.dev/v1alpha1\nkind: CertificatePolicy\nmetadata: {name: default}\n'
const files: [what: string, text: string, told: RegExp][] = [
  [
    'aliases of aliases',
    `a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n${head}spec: {bootstrapGroups: *c}\n`,
    /has an alias/,
  ],
  ['a merge key', `${head}x: &x {preset: lab}\nspec: {<<: *x}\n`, /has an alias/],
  ['depth', `${head}spec: ${'['.repeat(100_000)}${']'.repeat(100_000)}\n`, /nested too deeply/],
  [
    'a key twice',
    `${head}spec:\n  evidence: Inventory\n  evidence: NodeStatus\n`,
    /has the key "evidence" twice/,
  ],
  [
    'a name twice',
    `${head}spec: {preset: strict}\n---\n${head}spec: {preset: lab}\n`,
    /Duplicate value: "default"/,
  ],
  ['a prototype', `${head}spec: {preset: strict, __proto__: {preset: lab}}\n`, /unknown field/],
  ['a tag', `${head}spec: !!js/function 'f'\n`, /./],
]
for (const [what, text, told] of files) {
  test(`a policy file with ${what} is refused in bounded time and memory`, () => {
    assert.throws(() => parsePolicies(text, 'p.yaml'), told)
  })
}
