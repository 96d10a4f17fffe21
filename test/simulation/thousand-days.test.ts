import { test } from 'node:test'
import { runScript } from './own-process.ts'

test('a thousand days of 24-hour certificates: restarts, outages, wrong clocks and two lapses, and every node is well each midnight', async () => {
  await runScript('thousand-days.ts')
})
