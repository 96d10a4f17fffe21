import assert from 'node:assert/strict'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { withTimeout } from '../../src/ports.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import type { JoinMachine } from './pod-join.ts'
import type { RollcallProcess } from './rollcall-process.ts'
import type { TokenEquipment } from './softhsm.ts'

interface Thing {
  take(): void | Promise<void>
  give(): void | Promise<void>
  /** What the agent says while it is away. */
  said: RegExp
}

/** Milliseconds; the agent tries again ever slower. */
const patience = 120_000

/**
 * Each of these absent, alone and all together, and the kubeconfig always: a static pod starts, the agent stays and says
 * what it lacks, and joins when the thing appears.
 */
export async function thingsAbsent(machine: JoinMachine, hsm: TokenEquipment): Promise<void> {
  const [port, directory] = [await freePort(), machine.in('server')]
  const bootstrap = machine.in('bootstrap.kubeconfig')
  let server: RollcallProcess
  const api: Thing = {
    take: async () => void (await server.stop()),
    async give() {
      server = machine.start('server', '--dir', directory, '--port', String(port))
      await server.ready
    },
    said: /no answer from https/,
  }
  const file: Thing = {
    take: () => rmSync(bootstrap),
    give: () => copyFileSync(join(directory, 'bootstrap.kubeconfig'), bootstrap),
    said: /ENOENT/,
  }
  // As it stands in a line of JSON.
  const said = /token \\"node\\" is not there/
  const token: Thing = { take: () => hsm.pull(), give: () => hsm.putBack(), said }
  // In the order in which an attempt misses them.
  const all = [file, token, api]
  await api.give()
  await file.give()

  for (const [index, things] of [[api], [file], [token], all].entries()) {
    rmSync(machine.in('kubeconfig'), { force: true })
    rmSync(machine.in('pki'), { recursive: true, force: true })
    for (const { take } of things) await take()
    const name = `web-${index}`
    machine.write({ name, script: machine.service(name) })
    const agent = machine.agent('--bootstrap-kubeconfig', bootstrap, '--client-key', hsm.uri('token=node'))
    await eventually(`${name} runs`, () => machine.lines(name).length === 1, patience)
    for (const { give, said } of things) {
      await eventually(`it says ${said}`, () => said.test(agent.stderr()), patience)
      assert.equal(agent.child.exitCode, null)
      await give()
    }
    const late = () => new Error(`it did not join: ${agent.stderr()}`)
    await withTimeout(hostPorts.clock, patience, agent.ready, late)
    await agent.stop()
  }
}
