import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { controlPlane, noAssets } from '../assets/folder.ts'
import { type KubeApiserver, startKubeApiserver } from '../assets/kube-apiserver.ts'
import { cases } from './cases/index.ts'
import { startRollcallServer } from './rollcall-server.ts'
import { runCase } from './run-case.ts'
import { reviewed } from './sequences/reviewed.ts'
import { runSequences } from './sequences/run.ts'
import { type Wire, wireTo } from './wire.ts'

const skip = noAssets(...controlPlane)
let server: KubeApiserver
let wire: Wire
before(async () => {
  if (skip) return
  server = await startKubeApiserver()
  wire = wireTo(server)
})
after(async () => {
  wire?.close()
  await server?.stop()
})

// The cases are right only if a real server passes them too.
test('a real kube-apiserver passes the conformance cases', { skip }, async t => {
  for (const [index, one] of cases.entries())
    await t.test(one.title, async () => assert.deepEqual(await runCase(wire, one, `case-${index}`), []))
})

test('a real kube-apiserver answers random sequences as ours does, but for the reviewed differences', {
  skip,
}, async () => {
  const ours = await startRollcallServer()
  const left = wireTo(ours)
  try {
    const sides = [
      { name: ours.name, wire: left },
      { name: server.name, wire },
    ] as const
    const { findings } = await runSequences(sides, { seed: 3, more: index => index < 100, reviewed })
    assert.deepEqual(findings, [])
  } finally {
    left.close()
    await ours.stop()
  }
})
