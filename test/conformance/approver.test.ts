import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { definitionsAndPolicies } from '../assets/deploy.ts'
import { controlPlane, noAssets } from '../assets/folder.ts'
import { type KubeApiserver, startKubeApiserver } from '../assets/kube-apiserver.ts'
import { type RollcallProcess, temporaryFolder } from '../support/rollcall-process.ts'
import { approverCases } from './approver/cases.ts'
import { decisionOf, startApprover } from './approver/run.ts'
import { startRollcallServer } from './rollcall-server.ts'
import type { ServerUnderTest } from './server-under-test.ts'
import { type Wire, wireTo } from './wire.ts'

interface Approved {
  server: ServerUnderTest
  wire: Wire
  controller: RollcallProcess
  stop(): Promise<void>
}

async function approved(server: ServerUnderTest, kubeconfig: string): Promise<Approved> {
  const wire = wireTo(server)
  const folder = temporaryFolder()
  const controller = await startApprover(wire, kubeconfig, folder.path)
  const stop = async () => {
    await controller.stop()
    wire.close()
    await server.stop()
    folder.remove()
  }
  return { server, wire, controller, stop }
}

const skip = noAssets(...controlPlane)
let ours: Approved
let real: Approved | undefined
before(async () => {
  const server = await startRollcallServer()
  ours = await approved(server, join(server.folder, 'admin.kubeconfig'))
  if (skip) return
  const other: KubeApiserver = await startKubeApiserver()
  await definitionsAndPolicies(other.admin)
  real = await approved(other, other.adminKubeconfig)
})
after(async () => {
  await ours?.stop()
  await real?.stop()
})

for (const [index, one] of approverCases.entries())
  test(`rollcall controller on rollcall server: ${one.title}: ${one.outcome} ${one.reason}`, async () => {
    assert.equal(await decisionOf(ours.wire, one, `approver-${index}`), `${one.outcome} ${one.reason}`)
  })

test('rollcall controller on a real kube-apiserver decides all of them alike', { skip }, async t => {
  const { wire } = real ?? assert.fail('it was started')
  for (const [index, one] of approverCases.entries())
    await t.test(one.title, async () => {
      assert.equal(await decisionOf(wire, one, `approver-${index}`), `${one.outcome} ${one.reason}`)
    })
})
