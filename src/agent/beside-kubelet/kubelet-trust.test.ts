import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asynchronousDisk, MachineDisk } from '../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../fleet/simulated/random.ts'
import type { ProcessIdentity } from '../../pods/state/process-identity.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { KubeletTrust } from './kubelet-trust.ts'

const start = Date.parse('2026-06-01T00:00:00Z')
const minute = 60_000
const bundle = (generation: number) => ({ generation, digest: String(generation).repeat(64) })

const reportOf = (agent: KubeletTrust) => agent.report

/** A machine that has run for an hour, its kubelet and its agent; `now` is monotonic milliseconds since then. */
async function machine() {
  const clock = createManualClock(start)
  const simulated = asynchronousDisk(new MachineDisk(new SeededRandom('kubelet'), clock), async call =>
    call(),
  )
  let bootId = 'boot-1'
  let booted = -3_600_000
  const text = (of: string) => new TextEncoder().encode(of)
  const disk: typeof simulated = {
    ...simulated,
    async read(path) {
      if (path === '/proc/uptime') return text(`${((clock.monotonic() - booted) / 1000).toFixed(2)} 1.00\n`)
      return path.endsWith('/boot_id') ? text(`${bootId}\n`) : simulated.read(path)
    },
  }
  let processId = 100
  const running = (): ProcessIdentity => ({
    processId: processId++,
    startTicks: String(Math.round((clock.monotonic() - booted) / 10)),
    bootId,
  })
  const log = recordingLog()
  const made = {
    clock,
    log,
    process: running() as ProcessIdentity | undefined,
    restarts: [] as number[],
    /** systemd refuses. */
    broken: false,
    survives: true,
    changes: 0,
    reboot() {
      bootId = 'boot-2'
      booted = clock.monotonic()
      made.process = running()
    },
    agent: () =>
      new KubeletTrust({
        unit: {
          process: async () => made.process,
          async restart() {
            made.restarts.push(clock.monotonic())
            if (made.broken) throw new Error('Unit kubelet.service not found.')
            await clock.advance(50)
            made.process = made.survives ? running() : undefined
          },
        },
        disk,
        clock,
        log,
        directory: '/var/lib/rollcall/kubelet',
        onChange: () => made.changes++,
      }),
    async pass(milliseconds: number) {
      await clock.advance(milliseconds)
      for (let turn = 0; turn < 40; turn++) await settle()
    },
  }
  return made
}

describe('which CAs a kubelet beside trusts', () => {
  test('K-62: a file that is newer than the process is not trust; the process that starts after it has it', async () => {
    const node = await machine()
    const agent = node.agent()
    await node.pass(minute)
    agent.wrote(bundle(1))
    await node.pass(minute)
    assert.equal(reportOf(agent), undefined, 'it may have read anything')
    agent.restart(start)
    await node.pass(1000)
    const { generation, instance, loadedAt } = reportOf(agent) ?? assert.fail()
    assert.deepEqual([generation, instance.pid, node.restarts.length], [1, 101, 1])
    assert.ok(Math.abs(loadedAt - (start + 2 * minute)) < 1000)
    agent.wrote(bundle(2))
    await node.pass(minute)
    assert.equal(reportOf(agent)?.generation, 1)
    assert.equal(node.changes, 1)
    await agent.stop()

    // The next agent knows what the one before wrote; a process of another boot started after all of it.
    const second = node.agent()
    second.look()
    await node.pass(1000)
    assert.equal(reportOf(second)?.generation, 1)
    node.reboot()
    second.look()
    await node.pass(1000)
    assert.deepEqual([reportOf(second)?.generation, reportOf(second)?.instance.bootID], [2, 'boot-2'])
    await second.stop()
    assert.equal(node.clock.pending(), 0)
  })

  test('a wall clock that is set moves nothing', async () => {
    const node = await machine()
    const agent = node.agent()
    await node.pass(minute)
    node.clock.step(-24 * 60 * minute)
    agent.wrote(bundle(1))
    node.clock.step(48 * 60 * minute)
    agent.look()
    await node.pass(1000)
    assert.equal(reportOf(agent), undefined)
    await agent.stop()
  })
})

describe('an order to restart the kubelet', () => {
  test('attack: an API that orders without end restarts it once, and never without need', async () => {
    const node = await machine()
    const agent = node.agent()
    agent.restart(start)
    await node.pass(minute)
    assert.deepEqual(node.restarts, [], 'nothing was written that it has not loaded')
    agent.wrote(bundle(1))
    await node.pass(1000)
    for (let n = 0; n < 20; n++) {
      agent.restart(start)
      await node.pass(1000)
    }
    assert.equal(node.restarts.length, 1)

    // Another bundle within ten minutes waits for their end, also with another agent.
    agent.wrote(bundle(2))
    agent.restart(start)
    await node.pass(minute)
    await agent.stop()
    const second = node.agent()
    second.restart(start)
    await node.pass(5 * minute)
    assert.equal(node.restarts.length, 1)
    await node.pass(5 * minute)
    assert.equal(node.restarts.length, 2)
    const [first = 0, last = 0] = node.restarts
    assert.ok(last - first >= 10 * minute)
    assert.equal(reportOf(second)?.generation, 2)
    await second.stop()
  })

  test('is not obeyed before its time', async () => {
    const node = await machine()
    const agent = node.agent()
    agent.wrote(bundle(1))
    agent.restart(start + 5 * minute)
    await node.pass(4 * minute)
    assert.deepEqual(node.restarts, [])
    await node.pass(2 * minute)
    assert.equal(node.restarts.length, 1)
    await agent.stop()
  })

  test('a kubelet that did not survive a restart is started again at once, and what systemd refuses is tried again', async () => {
    const node = await machine()
    const agent = node.agent()
    agent.wrote(bundle(1))
    await node.pass(1000)
    node.survives = false
    agent.restart(start)
    await node.pass(1000)
    assert.deepEqual([node.restarts.length, reportOf(agent)], [1, undefined])
    node.broken = true
    agent.restart(start)
    await node.pass(1000)
    assert.ok(node.log.lines.some(line => line.includes('cannot be restarted')))
    Object.assign(node, { survives: true, broken: false })
    await node.pass(minute)
    assert.deepEqual([node.restarts.length, reportOf(agent)?.generation], [3, 1])
    await agent.stop()
    assert.equal(node.clock.pending(), 0)
  })
})
