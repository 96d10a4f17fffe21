import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { shippedAdmission } from '../conformance/cases/shipped-admission.ts'
import { runCase } from '../conformance/run-case.ts'
import { wireTo } from '../conformance/wire.ts'
import { definitionsAndPolicies, established, objectsIn } from './deploy.ts'
import { controlPlane, noAssets } from './folder.ts'
import { type KubeApiserver, startKubeApiserver } from './kube-apiserver.ts'

const skip = noAssets(...controlPlane)
let server: KubeApiserver
before(async () => {
  if (skip) return
  server = await startKubeApiserver()
  await definitionsAndPolicies(server.admin)
})
after(() => server?.stop())

test('a real kube-apiserver takes deploy/crds as they are and serves them', { skip }, async () => {
  const definitions = objectsIn('crds')
  const found = await established(server.admin, definitions)
  const wrong = found.flatMap(({ metadata, status }) =>
    (status?.conditions ?? [])
      .filter(({ type, status }) => type === 'NonStructuralSchema' && status === 'True')
      .map(({ message }) => `${metadata.name}: ${message}`),
  )
  assert.deepEqual(wrong, [])
})

test('deploy/admission forbids on a real kube-apiserver what our API forbids', { skip }, async t => {
  const wire = wireTo(server)
  t.after(() => wire.close())
  for (const [index, one] of shippedAdmission.entries())
    await t.test(one.title, async () => assert.deepEqual(await runCase(wire, one, `admission-${index}`), []))
})
