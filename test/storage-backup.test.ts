import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { connect, connectionOf } from './support/api-connection.ts'
import { runRollcall, startRollcall, temporaryFolder } from './support/rollcall-process.ts'

const maps = '/api/v1/namespaces/default/configmaps'

async function running(t: TestContext, dir: string) {
  const server = startRollcall(['server', '--no-controllers', '--dir', dir, '--port', '0'])
  t.after(() => server.stop())
  await server.ready
  const api = connect(await connectionOf(join(dir, 'admin.kubeconfig')))
  t.after(() => api.close())
  return { server, api }
}

it('a backup of a running server, restored, is what was there, and clients of later revisions list again', async t => {
  const folder = temporaryFolder()
  t.after(() => folder.remove())
  const [dir, file] = [join(folder.path, 'D'), join(folder.path, 'backup')]
  const { server, api } = await running(t, dir)
  const create = (name: string) => api.send('POST', maps, { metadata: { name } })
  assert.equal((await create('before')).status, 201)
  const backup = await runRollcall(['server', 'backup', '--dir', dir, '--to', file])
  assert.equal(backup.code, 0, backup.stderr)
  assert.match(backup.stdout, /backup: \d+ objects at revision \d+, no certificates in the ledger/)
  const after = await create('after')
  const restore = () => runRollcall(['server', 'restore', '--from', file, '--dir', dir])
  const refused = await restore()
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^rollcall: Another rollcall process holds .*\n$/)
  api.close()
  await server.stop()
  const restored = await restore()
  assert.equal(restored.code, 0, restored.stderr)

  const again = await running(t, dir)
  const { body } = await again.api.send('GET', maps)
  const names = body.items?.map(({ metadata }) => metadata.name)
  assert.ok(names?.includes('before') && !names.includes('after'), String(names))
  const seen = after.body.metadata?.resourceVersion
  const watch = await again.api.send('GET', `${maps}?watch=1&resourceVersion=${seen}&timeoutSeconds=1`)
  assert.match(JSON.stringify(watch.body), /"reason":"Expired"/)
})
