import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { crash } from './suite.ts'

/** More of them: npm run crash -- --times 100. */
const TIMES = 10

test(`kill -9 of control plane and fleet at ${TIMES} random moments: every node ends with valid certificates of its own, nothing acknowledged is lost`, {
  timeout: 300_000,
}, async () => {
  // Another seed each time, so that many runs see many moments; it is printed, and run again by the printed command.
  await crash({ seed: String(randomInt(1_000_000_000)), times: TIMES, onLine: console.log })
})
