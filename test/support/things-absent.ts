import assert from 'node:assert/strict'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { withTimeout } from '../../src/ports.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { type JoinMachine, type JoinRuntime, onJoinMachine } from './pod-join.ts'
import type { RollcallProcess } from './rollcall-process.ts'
import { noShiftedClock, shiftedClock } from './shifted-clock.ts'
import { softHsm, whyNoSoftHsm, whyNoTokenTls } from './softhsm.ts'

/** Something without which a node cannot join, or not even run its pods. */
interface Thing {
  take(): void | Promise<void>
  give(): void | Promise<void>
  /** What the agent says while it is away; absent: it does not miss it. */
  said?: RegExp
}

type Kind = 'API' | 'bootstrap file' | 'kubeconfig' | 'HSM' | 'clock of 1970' | 'clock of 2040' | 'runtime'

/** Milliseconds; the agent tries again ever slower. */
const patience = 120_000

/** Why this cannot be tried here; false: it can. */
export const whyNothingCanBeAbsent = whyNoSoftHsm() || whyNoTokenTls() || noShiftedClock

/**
 * Each of these absent, alone and all together: a static pod starts as soon as its runtime is there, the agent stays and says
 * what it lacks, and joins when the thing appears. `runtime`: the program that runs the pods, where there is one.
 */
export async function thingsAbsent(kind: () => JoinRuntime, runtime?: Omit<Thing, 'said'>): Promise<void> {
  const alone: Kind[] = ['API', 'bootstrap file', 'kubeconfig', 'HSM', 'clock of 1970', 'clock of 2040']
  await Promise.all(alone.map(thing => absent(kind, [thing])))
  // The runtime first, as the pod waits for nothing else.
  const together: Kind[] = [...(runtime ? ['runtime' as const] : []), ...alone.slice(0, 5)]
  await absent(kind, together, runtime)
}

/** On a machine and with a control plane of its own. */
function absent(
  kind: () => JoinRuntime,
  names: readonly Kind[],
  runtime?: Omit<Thing, 'said'>,
): Promise<void> {
  return onJoinMachine(kind, async machine => {
    const hsm = softHsm('node')
    const clock = shiftedClock()
    machine.agentEnvironment = { ...hsm.environment, ...clock.environment }
    const things: Record<Kind, Thing> = {
      ...(await ofTheCluster(machine)),
      // As it stands in a line of JSON.
      HSM: { take: () => hsm.pull(), give: () => hsm.putBack(), said: /token \\"node\\" is not there/ },
      'clock of 1970': { take: () => clock.set(0), give: () => clock.set(undefined), said: /not yet valid/ },
      'clock of 2040': {
        take: () => clock.set(Date.UTC(2040, 0, 1)),
        give: () => clock.set(undefined),
        said: /has expired/,
      },
      runtime: { take: () => {}, give: () => {}, ...runtime, said: /static pods cannot run yet/ },
    }
    const key = hsm.uri('token=node')
    const flags = ['--bootstrap-kubeconfig', machine.in('bootstrap.kubeconfig'), '--client-key', key]
    try {
      if (names.includes('kubeconfig')) await joined(machine.agent(...flags))
      rmSync(machine.in('pki'), { recursive: true, force: true })
      for (const name of names) await things[name].take()
      await comesRight(machine, flags, names, things)
    } finally {
      hsm.remove()
      clock.remove()
    }
  })()
}

/** The pod runs before anything else is there; then all appears, one after the other. */
async function comesRight(
  machine: JoinMachine,
  flags: string[],
  names: readonly Kind[],
  things: Record<Kind, Thing>,
): Promise<void> {
  machine.write({ name: 'web', script: machine.service('web') })
  const agent = machine.agent(...flags)
  const says = async ({ said }: Thing) => {
    if (said) await eventually(`it says ${said}`, () => said.test(agent.stderr()), patience)
    assert.equal(agent.child.exitCode, null)
  }
  if (names.includes('runtime')) {
    await says(things.runtime)
    await things.runtime.give()
  }
  await eventually('the pod runs', () => machine.lines('web').length === 1, patience)
  const rest = names.filter(name => name !== 'runtime')
  const [first] = rest.length === 1 ? rest : rest.filter(name => name === 'bootstrap file')
  if (first) await says(things[first])
  for (const name of rest) await things[name].give()
  await joined(agent)
  assert.equal(machine.lines('web').length, 1)
}

async function joined(agent: RollcallProcess): Promise<void> {
  const late = () => new Error(`it did not join: ${agent.stderr()}`)
  await withTimeout(hostPorts.clock, patience, agent.ready, late)
  await agent.stop()
}

async function ofTheCluster(
  machine: JoinMachine,
): Promise<Record<'API' | 'bootstrap file' | 'kubeconfig', Thing>> {
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
  await api.give()
  await file.give()
  // The agent writes it anew.
  const kubeconfig: Thing = { take: () => rmSync(machine.in('kubeconfig')), give: () => {} }
  return { API: api, 'bootstrap file': file, kubeconfig }
}
