import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePort } from './support/free-port.ts'
import { startRollcall, temporaryFolder } from './support/rollcall-process.ts'

test('rollcall controller serves its metrics at --metrics-listen, once it leads those of the cluster', async t => {
  const { path, remove } = temporaryFolder()
  const server = startRollcall(['server', '--no-controllers', '--dir', path, '--port', '0'])
  t.after(async () => {
    await server.stop()
    remove()
  })
  await server.ready
  const address = `127.0.0.1:${await freePort()}`
  const kubeconfig = ['--kubeconfig', join(path, 'admin.kubeconfig')]
  const controller = startRollcall([
    'controller',
    ...kubeconfig,
    '--no-leader-election',
    '--metrics-listen',
    address,
  ])
  await controller.ready
  const page = await fetch(`http://${address}/metrics`).then(response => response.text())
  assert.match(page, /^rollcall_controller_running\{controller="approval"\} 1$/m)
  assert.match(page, /^process_resident_memory_bytes \d+$/m)
  // With a connection of the scraper left open it ends all the same.
  assert.equal(await controller.stop(), 0)
})
