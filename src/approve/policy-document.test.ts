import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { parsePolicies, readPolicies } from './policy-document.ts'
import { policyOf } from './policy-presets.ts'

const head = 'apiVersion: rollcall.dev/v1alpha1\nkind: CertificatePolicy\nmetadata: {name: default}\n'
/** The spec begins in line 5, column 3. */
const withSpec = (spec: string) => `${head}spec:\n${spec.replace(/^/gm, '  ')}\n`

test('a policy file is read as it is written', () => {
  const spec = `
evidence: NodeStatus
serviceRanges: [10.96.0.0/12]
inventory: { configMap: kube-system/inventory }
pools:
  - name: metal
    evidence: Inventory
    nodeLabels: { node-restriction.kubernetes.io/pool: metal }
`
  const [policy] = parsePolicies(withSpec(spec), 'p.yaml')
  assert.deepEqual(policyOf(policy?.spec ?? {}), {
    evidence: 'NodeStatus',
    allowedRanges: [],
    serviceRanges: ['10.96.0.0/12'],
    inventory: { configMap: 'kube-system/inventory' },
    pools: [
      {
        name: 'metal',
        evidence: 'Inventory',
        nodeLabels: { 'node-restriction.kubernetes.io/pool': 'metal' },
      },
    ],
  })
})

const refused: [spec: string, told: RegExp][] = [
  ['{}', /^4:1: spec: must say `evidence: NodeStatus`/],
  ['evidence: DNS', /^5:3: spec\.evidence: must be NodeStatus or ProtectedNodeStatus or Inventory$/],
  [
    'evidence: NodeStatus\nallowedRange: [10.0.0.0/8]',
    /^6:3: spec\.allowedRange: is an unknown field \(did you mean allowedRanges\?\)/,
  ],
  ['evidence: NodeStatus\nallowedRanges: 10.0.0.0/8', /^6:3: spec\.allowedRanges: must be a list$/],
  [
    'evidence: NodeStatus\nserviceRanges: [10.96.0.0]',
    /^6:19: spec\.serviceRanges\[0\]: "10\.96\.0\.0" is no/,
  ],
  ['evidence: NodeStatus\nwaitSeconds: soon', /^6:3: spec\.waitSeconds: must be a whole number$/],
  ['evidence: Inventory', /need `inventory` to say where it is/],
  ['preset: strict\nreleasedAddresses: lost', /must be held or free/],
  ['preset: lab\ninventory: {configMap: a/b, file: /c}', /exactly one/],
  ['preset: lab\ninventory: {configMap: seven}', /^6:3: .*must be written namespace\/name$/],
  ['preset: lab\npools: [{evidence: NodeStatus}]', /^6:11: spec\.pools\[0\]: must have the field name$/],
  ['preset: lab\npools: [{name: a, labels: {}}]', /^6:21: spec\.pools\[0\]\.labels: is an unknown field/],
  ['preset: lab\npools: [{name: a}]', /selects by nothing/],
  ['preset: lab\npools: [{name: a, nodeLabels: {zone: b}}]', /^6:34: .*"zone", which a node can change/],
  [
    'preset: lab\npools: [{name: a, nodeLabels: {evilnode-restriction.kubernetes.io/a: b}}]',
    /which a node can change/,
  ],
  [
    'preset: lab\npools: [{name: a, bootstrapGroups: [g]}, {name: a, bootstrapGroups: [h]}]',
    /Duplicate value: "a"/,
  ],
  ['preset: lab\nbootstrapGroups: ["system:nodes"]', /everybody in it could ask as any node/],
  ['preset: lab\nsans: {dnsNames: ["(a+)+$"]}', /is neither a name nor \*\. and a name/],
  ['preset: lab\nsans: {dnsNames: ["*.*.example"]}', /is neither a name/],
  ['preset: lab\nlifetime: {minSeconds: 10, maxSeconds: 5}', /must not exceed/],
  ['preset: lab\nactions: {EvidenceUnavailable: Deny}', /is an unknown field/],
  ['preset: lab\nactions: {SanUnproven: Approve}', /must be Deny or Hold or Ignore/],
  ['preset: lab\nshadowOf: other', /is not for the policy in force/],
  ['preset: lab\npreset: strict', /^6:3: has the key "preset" twice$/],
]
for (const [spec, told] of refused) {
  test(`a policy that says something else than it seems is refused with its place: ${spec.split('\n').at(-1)}`, () => {
    const { problems } = readPolicies(withSpec(spec))
    const texts = problems.map(({ line, column, text }) => `${line}:${column}: ${text}`)
    assert.match(texts.join('\n'), told)
  })
}

test('everything wrong is told at once, each line with the file and the place', () => {
  const text = withSpec('evidence: DNS\nwaitSeconds: 0')
  assert.throws(
    () => parsePolicies(text, 'p.yaml'),
    error => hasCode(error, 'POLICY_INVALID') && /^p\.yaml:5:3: .*\np\.yaml:6:3: .*$/.test(error.message),
  )
})

test('a policy as it was before CertificatePolicy is refused, and told how to write it', () => {
  assert.match(
    readPolicies('evidence: NodeStatus\n').problems[0]?.text ?? '',
    /^must be a CertificatePolicy: apiVersion: rollcall\.dev\/v1alpha1/,
  )
})

test('two policies of one name in a file are refused', () => {
  const { problems } = readPolicies(`${withSpec('preset: lab')}---\n${withSpec('preset: strict')}`)
  assert.match(problems[0]?.text ?? '', /Duplicate value: "default"/)
})

test('an alias is refused before it is expanded: nine lines of them would be a billion strings', () => {
  const lines = Array.from(
    { length: 9 },
    (_, n) => `a${n}: &a${n} [${`*a${n - 1},`.repeat(10).slice(0, -1)}]`,
  )
  const bomb = `a: &a-1 [lol]\n${lines.join('\n')}\n`.replaceAll('a-1', 'z')
  assert.match(readPolicies(bomb).problems[0]?.text ?? '', /has an alias/)
})

test('a file of megabytes is refused unread', () => {
  const text = withSpec(`allowedRanges:\n${'- 10.0.0.0/8\n'.repeat(800_000)}`)
  assert.match(readPolicies(text).problems[0]?.text ?? '', /is longer than/)
})

test('ten thousand keys are read in the time of as many lines', () => {
  const keys = Array.from({ length: 10_000 }, (_, n) => `k${n}: v`).join('\n')
  const { problems } = readPolicies(withSpec(keys))
  assert.ok(problems.length <= 20)
  assert.match(problems[0]?.text ?? '', /unknown field/)
})

test('every policy in examples/policies can be used', () => {
  const folder = new URL('../../examples/policies/', import.meta.url)
  const files = readdirSync(folder).filter(file => file.endsWith('.yaml') && file !== 'inventory.yaml')
  assert.ok(files.length >= 4)
  for (const file of files) {
    const policies = parsePolicies(readFileSync(new URL(file, folder), 'utf8'), file)
    assert.ok(policies.length > 0)
  }
})
