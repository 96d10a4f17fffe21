import { test } from 'node:test'
import { runScript } from './own-process.ts'

test('5000 nodes that joined within one minute renew both certificates spread out: the busiest minute has at most three times the mean', async () => {
  await runScript('spread.ts')
})
