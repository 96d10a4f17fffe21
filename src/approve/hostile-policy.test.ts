import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  actionableReasons,
  actions,
  evidenceLevels,
  keyTypes,
  modes,
  presets,
} from '../kube/rollcall/certificate-policy/spec.ts'
import { problemsOf } from '../kube/rollcall/certificate-policy.ts'
import { asking, servingFacts } from '../testing/judged-request.ts'
import { judge } from './judge.ts'
import { policyOf } from './policy-presets.ts'

const given = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 2 })
const few = <T>(of: fc.Arbitrary<T>) => given(fc.array(of, { minLength: 1, maxLength: 3 }))
const name = fc.constantFrom('worker-1', '*.cluster.internal', 'constructor', 'WORKER-1', 'evil.example')
const range = fc.constantFrom('0.0.0.0/0', '::/0', '10.0.0.0/8', '127.0.0.0/8', '::ffff:0:0/96')
const seconds = fc.constantFrom(1, 60, 3600, 86_400)
const terms = {
  evidence: given(fc.constantFrom(...evidenceLevels)),
  mode: given(fc.constantFrom(...modes)),
  sans: given(fc.record({ dnsNames: few(name), ipRanges: few(range), maxCount: fc.constantFrom(1, 100) })),
  keys: few(fc.constantFrom(...keyTypes)),
  lifetime: given(fc.record({ maxSeconds: seconds })),
  approvalsPerHour: given(fc.constantFrom(1, 100)),
}
const keys = fc.constantFrom('rack', '__proto__', 'constructor')
const pool = fc.record({
  name: fc.constantFrom('p', 'q', 'r'),
  ...terms,
  inventoryAttributes: fc.dictionary(keys, fc.constantFrom('x', 'y'), { minKeys: 1 }),
})
const spec = fc.record({
  ...terms,
  preset: given(fc.constantFrom(...presets)),
  pools: given(fc.uniqueArray(pool, { maxLength: 3, selector: one => one.name })),
  inventory: fc.constant({ configMap: 'a/b' }),
  allowedRanges: few(range),
  serviceRanges: few(range),
  podRanges: few(range),
  apiServers: few(name),
  waitSeconds: given(seconds),
  releasedAddresses: given(fc.constantFrom('held', 'free')),
  evidenceFrom: few(fc.constantFrom('webhook', '__proto__')),
  holdSeconds: given(seconds),
  approvers: given(fc.constantFrom(1, 2)),
  actions: given(fc.dictionary(fc.constantFrom(...actionableReasons), fc.constantFrom(...actions))),
})

test('no policy that is accepted, whoever wrote it, makes judgement fail or approves what nothing proves', () => {
  const own = servingFacts(asking(['worker-1'], ['10.0.0.11']))
  const unproven = [
    asking(['worker-1'], ['10.0.0.12']),
    asking(['evil.example']),
    asking([], ['127.0.0.1', '10.0.0.11']),
    asking([], ['64:ff9b:1::7f00:1']),
  ].map(request => servingFacts(request))
  let accepted = 0
  let approved = 0
  fc.assert(
    fc.property(spec, drawn => {
      const written = JSON.parse(JSON.stringify(drawn))
      if (problemsOf('default', written, 'resource').length > 0) return
      accepted++
      const policy = policyOf(written)
      if (judge({ ...own, policy }).outcome === 'Approve') approved++
      for (const facts of unproven) {
        const { outcome, reasons } = judge({ ...facts, policy })
        assert.notEqual(outcome, 'Approve')
        assert.ok(reasons[0]?.message)
      }
    }),
    { numRuns: 4000 },
  )
  assert.ok(accepted > 1000 && approved > 0, `${accepted} accepted, ${approved} of them approved`)
})
