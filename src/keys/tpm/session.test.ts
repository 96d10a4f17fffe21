import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { createTpm } from './tpm.ts'
import { joined, sized, uint16, uint32 } from './wire.ts'

const answer = (responseCode: number, ...parameters: Uint8Array[]) => {
  const body = joined(...parameters)
  return joined(uint16(0x8001), uint32(10 + body.length), uint32(responseCode), body)
}

test('a command that the TPM could not take now is sent again, with growing pauses, and not for ever', async () => {
  const clock = createManualClock(0)
  const answers = [0x922, 0x908, 0x90a]
  const tpm = createTpm(
    {
      exchange: async () => answer(answers.shift() ?? 0, sized(Uint8Array.of(7))),
      close() {},
    },
    clock,
  )
  const random = tpm.getRandom(1)
  await settle()
  await clock.advance(20 + 40 + 80)
  assert.deepEqual(await random, Uint8Array.of(7))

  let sent = 0
  const exchange = async () => {
    sent++
    return answer(0x922)
  }
  const busy = createTpm({ exchange, close() {} }, clock)
  const refused = assert.rejects(busy.getRandom(1), { code: 'TPM_REFUSED' })
  await clock.advance(60_000)
  await refused
  assert.equal(sent, 8)
  assert.equal(clock.pending(), 0)
})

test('a TPM that gives no answer is given up, and its connection with it: a late answer would be taken for another', async () => {
  const clock = createManualClock(0)
  let closed = 0
  const tpm = createTpm({ exchange: () => new Promise(() => {}), close: () => void closed++ }, clock)
  const lost = assert.rejects(tpm.getRandom(1), { code: 'TPM_ABSENT' })
  await settle()
  await clock.advance(120_000)
  await lost
  assert.equal(closed, 1)
  assert.equal(clock.pending(), 0)
})
