import { test } from 'node:test'
import { runScript } from './own-process.ts'

/** More of them: ROLLCALL_SEEDS=100000 npm run simulate. */
const SEEDS = 300

test(`crashes, lost messages, full disks and wrong clocks of ${SEEDS} seeds leave every node with valid certificates`, async () => {
  await runScript('run-seeds.ts', { ROLLCALL_FIRST_SEED: '1', ROLLCALL_SEEDS: String(SEEDS) })
})
