import { test } from 'node:test'
import { runScript } from './own-process.ts'

test('API, controllers and a thousand agents run in one process: all join within a minute, and hold both certificates', async () => {
  await runScript('thousand-agents.ts')
})
