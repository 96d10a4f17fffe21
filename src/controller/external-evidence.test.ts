import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificatePolicy } from '../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies } from '../kube/rollcall/certificate-policy.ts'
import { calm, onCluster } from '../testing/controlled-cluster.ts'

const policy = { evidence: 'Inventory', allowedRanges: [], evidenceFrom: ['cmdb'] } as const

test(
  'a source that a policy names proves SANs; one that fails keeps requests waiting, and is asked again',
  onCluster(async cluster => {
    let answer: () => Promise<Uint8Array | undefined> = () => Promise.reject(new Error('refused'))
    const evidenceSources = [{ name: 'cmdb', timeout: 5_000, ask: () => answer() }]
    await cluster.start({ approvalPolicy: policy, evidenceSources })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    assert.deepEqual(await cluster.eventsOf(name), ['Warning EvidenceUnavailable'])
    // It answers, and does not know the address yet.
    answer = async () => undefined
    await cluster.clock.advance(120_000)
    await calm()
    assert.deepEqual(await cluster.eventsOf(name), ['Warning EvidenceUnavailable', 'Normal SanUnproven'])
    answer = async () => Buffer.from('{"addresses":["10.0.0.1"]}')
    await cluster.clock.advance(60_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Approved SansProven, issued')
  }),
)

test(
  'a source that nobody defined is one that cannot be asked; what is denied anyway asks nobody',
  onCluster(async cluster => {
    let questions = 0
    const ask = async () => {
      questions++
      return undefined
    }
    await cluster.start({
      approvalPolicy: { ...policy, evidenceFrom: ['cmdb', 'other'] },
      evidenceSources: [{ name: 'cmdb', timeout: 5_000, ask }],
    })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const by = await cluster.node('a')
    const bad = await cluster.ask({ by, node: 'a', ips: ['127.0.0.1'] })
    assert.equal(await cluster.fate(bad), 'Denied ReservedName')
    assert.equal(questions, 0)
    const name = await cluster.ask({ by, node: 'a', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(name), 'pending')
    assert.deepEqual(await cluster.eventsOf(name), ['Warning EvidenceUnavailable'])
    assert.equal(questions, 1)
  }),
)

test(
  'the sources that a shadow alone names are asked once a verdict stands, which waits for none of them',
  onCluster(async cluster => {
    const answers = new Map<string, PromiseWithResolvers<Uint8Array | undefined>>()
    const ask = (node: string) => {
      const answer = answers.get(node) ?? Promise.withResolvers<Uint8Array | undefined>()
      answers.set(node, answer)
      return answer.promise
    }
    for (const [name, spec] of Object.entries({
      default: { evidence: 'NodeStatus' },
      next: { evidence: 'Inventory', evidenceFrom: ['cmdb'], shadowOf: 'default' },
    } satisfies Record<string, CertificatePolicy['spec']>))
      await cluster.admin.create<CertificatePolicy>(certificatePolicies, {
        apiVersion: 'rollcall.dev/v1alpha1',
        kind: 'CertificatePolicy',
        metadata: { name },
        spec,
      })
    await cluster.start({
      approvalPolicy: undefined,
      evidenceSources: [{ name: 'cmdb', timeout: 5_000, ask }],
    })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    await cluster.register('b', [['InternalIP', '10.0.0.2']])
    for (const [node, ip] of Object.entries({ a: '10.0.0.1', b: '10.0.0.2' })) {
      const name = await cluster.ask({ by: await cluster.node(node), node, ips: [ip] })
      assert.equal(await cluster.fate(name), 'Approved SansProven, issued')
    }
    assert.deepEqual([...answers.keys()], ['a', 'b'])
    answers.get('b')?.resolve(undefined)
    answers.get('a')?.resolve(Buffer.from('{"addresses":["10.0.0.1"]}'))
    await calm()
    await cluster.clock.advance(31_000)
    await calm()
    const { status } = await cluster.admin.get<CertificatePolicy>(certificatePolicies, { name: 'next' })
    const { compared, different, latest = [] } = status?.shadow ?? {}
    assert.deepEqual([compared, different], [2, 1])
    assert.deepEqual(
      latest.map(({ node, enforced, shadow }) => [node, enforced, shadow]),
      [['b', 'Approve SansProven', 'Wait SanUnproven']],
    )
  }),
)

test(
  'attack: who bootstraps under a hundred names, and a source that hardly answers, hold up nobody who needs no answer, and nobody else’s question for long',
  onCluster(async cluster => {
    const under: ((answer: Uint8Array | undefined) => void)[] = []
    const ask = () => new Promise<Uint8Array | undefined>(resolve => under.push(resolve))
    const running = await cluster.start({
      approvalPolicy: { ...policy, evidence: 'NodeStatus', bootstrap: 'Inventory' },
      evidenceSources: [{ name: 'cmdb', timeout: 60_000, ask }],
    })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    for (let n = 0; n < 100; n++) await cluster.ask({ by: cluster.bootstrapper, node: `made-up-${n}` })
    const by = await cluster.node('a')
    const renewal = await cluster.ask({ by, node: 'a' })
    assert.equal(await cluster.fate(renewal), 'Approved AutoApproved, issued')
    const serving = await cluster.ask({ by, node: 'a', ips: ['10.0.0.1'] })
    // Four questions of the other one are under way already; the node's own comes next or after one more.
    for (let answers = 0; answers < 6; answers++) {
      under.shift()?.(undefined)
      await calm()
    }
    assert.equal(await cluster.fate(serving), 'Approved SansProven, issued')
    // Ninety questions wait still: whoever leads next does not wait for them.
    await running.stop()
  }),
)

test(
  'a policy that needs no answer any more lets in who waits for one',
  onCluster(async cluster => {
    const { admin } = cluster
    const spec = { evidence: 'NodeStatus', bootstrap: 'Inventory', evidenceFrom: ['cmdb'] } as const
    await admin.create<CertificatePolicy>(certificatePolicies, {
      apiVersion: 'rollcall.dev/v1alpha1',
      kind: 'CertificatePolicy',
      metadata: { name: 'default' },
      spec,
    })
    const ask = () => new Promise<undefined>(() => {})
    await cluster.start({
      approvalPolicy: undefined,
      evidenceSources: [{ name: 'cmdb', timeout: 60_000, ask }],
    })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.deepEqual([await cluster.fate(name), await cluster.eventsOf(name)], ['pending', []])
    const stored = await admin.get<CertificatePolicy>(certificatePolicies, { name: 'default' })
    await admin.update(certificatePolicies, { ...stored, spec: { evidence: 'NodeStatus' } })
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)
