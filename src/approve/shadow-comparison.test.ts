import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bothGroups } from '../testing/judged-cases.ts'
import { servingFacts, withSubject } from '../testing/judged-request.ts'
import { settle } from '../testing/manual-clock.ts'
import type { EvidenceProvider } from './evidence/provider.ts'
import { judge } from './judge.ts'
import type { LoadedPolicy, PolicySource } from './policy-source.ts'
import { ShadowComparison } from './shadow-comparison.ts'

const unasked: EvidenceProvider = {
  name: 'cmdb',
  level: 'Inventory',
  evidence: () => ({ error: 'was not asked yet' }),
  holders: () => [],
}
const shadow: LoadedPolicy = {
  name: 'next',
  revision: '1',
  policy: { evidence: 'Inventory', allowedRanges: [], evidenceFrom: ['cmdb'] },
}

/** Shadows that have to ask a source that answers when told, and what became of them. */
function comparing() {
  let shadows = [shadow]
  let compared = 0
  const asked: string[] = []
  const answer = Promise.withResolvers<void>()
  const policies: PolicySource = {
    inForce: () => undefined,
    unusable: () => undefined,
    shadows: () => shadows,
    settled: Promise.resolve(),
    compared: () => void compared++,
    stop: async () => {},
  }
  const sources = {
    evidence: () => [unasked],
    ask(_: unknown, node: string) {
      asked.push(node)
      return answer.promise
    },
  }
  const comparison = new ShadowComparison(policies, sources, () => {})
  const request = (node: string, name: string) => {
    const facts = servingFacts({
      spec: { username: `system:node:${node}`, groups: bothGroups },
      asked: withSubject(`system:node:${node}`).asked,
    })
    const csr = { ...facts.csr, metadata: { ...facts.csr.metadata, name, uid: name } }
    comparison.compare({ ...facts, csr }, judge({ ...facts, csr }))
  }
  return {
    comparison,
    asked,
    answer: answer.resolve,
    request,
    compared: () => compared,
    withdraw: () => (shadows = []),
  }
}

test('attack: for shadows a source is asked about so many nodes at a time, and about each once, however often they ask', async () => {
  const { asked, request, answer, compared, comparison } = comparing()
  for (let n = 0; n < 50; n++) request('worker-1', `again-${n}`)
  for (let n = 0; n < 200; n++) request(`w${n}`, `of-${n}`)
  assert.deepEqual([asked.length, new Set(asked).size, compared()], [64, 64, 0])
  answer()
  await settle()
  assert.equal(compared(), 64, 'the newest of each')
  await comparison.stop()
})

test('an answer for a shadow that is withdrawn meanwhile is compared with nothing', async () => {
  const { request, answer, compared, withdraw } = comparing()
  request('worker-1', 'a')
  withdraw()
  answer()
  await settle()
  assert.equal(compared(), 0)
})
