import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { cases } from './cases/index.ts'
import { shippedAdmission } from './cases/shipped-admission.ts'
import { startRollcallServer } from './rollcall-server.ts'
import { runCase } from './run-case.ts'
import type { ServerUnderTest } from './server-under-test.ts'
import { type Wire, wireTo } from './wire.ts'

let server: ServerUnderTest
let wire: Wire

before(async () => {
  server = await startRollcallServer()
  wire = wireTo(server)
})
after(async () => {
  wire?.close()
  await server?.stop()
})

for (const [index, one] of [...cases, ...shippedAdmission].entries())
  test(one.title, async () => assert.deepEqual(await runCase(wire, one, `case-${index}`), []))
