import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventDigest } from './digest.ts'
import { Machine } from './machine.ts'
import { SeededRandom } from './random.ts'
import { VirtualTime } from './virtual-time.ts'

function machineAt(seed: string, offset = 0) {
  const time = new VirtualTime(1_000_000)
  const digest = new EventDigest()
  return { time, digest, machine: new Machine('node-1', { time, digest }, new SeededRandom(seed), offset) }
}

test('a machine has its own wall clock; timers do not notice its jumps', async () => {
  const { time, machine } = machineAt('clock', 5000)
  const process = machine.start()
  const rang: number[] = []
  process.clock.after(1000, () => rang.push(process.clock.monotonic()))
  machine.clock.jump(-3_600_000)
  assert.equal(process.clock.now(), 1_000_000 + 5000 - 3_600_000)
  await time.runFor(2000)
  assert.deepEqual(rang, [1000])
  assert.equal(process.clock.monotonic(), 2000)
})

test('a killed process never goes on, and its half-done call did or did not take effect', async () => {
  const seen = new Set<string>()
  for (let seed = 0; seed < 50; seed += 1) {
    const { time, machine } = machineAt(String(seed))
    const process = machine.start()
    let wentOn = false
    const goOn = () => {
      wentOn = true
    }
    process.clock.after(10, goOn)
    process.disk.write('/f', 'x', { mode: 0o600 }).then(goOn, goOn)
    machine.kill()
    await time.runFor(1000)
    process.disk.read('/f').then(goOn, goOn)
    await time.runFor(1000)
    assert.equal(wentOn, false)
    assert.equal(time.pending, 0)
    seen.add(machine.disk.list('/').join())
  }
  assert.deepEqual(seen, new Set(['', 'f']))
})

test('what is on the disk outlives the process; the monotonic clock outlives it but not a power cut', async () => {
  const { time, machine } = machineAt('disk')
  const first = machine.start()
  const written = first.disk
    .write('/f', 'x', { mode: 0o600, sync: true })
    .then(() => first.disk.syncDirectory('/'))
  await time.runFor(1000)
  await written
  machine.kill()
  assert.equal(machine.start().clock.monotonic(), 1000)
  machine.cutPower()
  const last = machine.start()
  assert.equal(last.clock.monotonic(), 0)
  const read = last.disk.read('/f')
  await time.runFor(1000)
  assert.deepEqual([...(await read)], [120])
  assert.throws(() => machine.start(), /runs already/)
})
