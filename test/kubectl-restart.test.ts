import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePort } from './support/free-port.ts'
import { kubectl as kubectlOf, noKubectl } from './support/kubectl.ts'
import { startRollcall, temporaryFolder } from './support/rollcall-process.ts'

const collection = '/api/v1/namespaces/default/configmaps'

test('a watch ends with its server and goes on, or begins anew, where the next server is', {
  skip: noKubectl,
}, async t => {
  const { path: folder, remove } = temporaryFolder()
  t.after(remove)
  const directory = join(folder, 'data')
  const port = String(await freePort())
  const start = async () => {
    const server = startRollcall(['server', '--dir', directory, '--port', port, '--no-controllers'])
    t.after(() => server.stop())
    await server.ready
    return server
  }
  const kubectl = kubectlOf({ kubeconfig: join(directory, 'admin.kubeconfig'), home: folder })
  const version = async (): Promise<string> =>
    JSON.parse(await kubectl.ok(['get', '--raw', `${collection}?limit=1`])).metadata.resourceVersion
  const changesSince = async (since: string) => {
    const url = `${collection}?watch=1&resourceVersion=${since}&timeoutSeconds=1`
    const lines = (await kubectl.ok(['get', '--raw', url])).trim().split('\n')
    return lines.map(line => JSON.parse(line))
  }

  const first = await start()
  const old = await version()
  await kubectl.ok('create cm before')
  const watch = kubectl.follow('get cm --watch --no-headers')
  assert.match(await watch.line(), /^before /)
  const last = await version()
  await first.stop()
  // kubectl ends without a complaint, as with any server that says goodbye.
  assert.equal(await watch.line(), '(the end)')

  await start()
  await kubectl.ok('create cm after')
  await kubectl.ok('delete cm before')
  const changes = await changesSince(last)
  assert.deepEqual(
    changes.map(({ type, object }) => [type, object.metadata.name]),
    [
      ['ADDED', 'after'],
      ['DELETED', 'before'],
    ],
  )
  const [expired] = await changesSince(old)
  assert.deepEqual([expired.type, expired.object.code, expired.object.reason], ['ERROR', 410, 'Expired'])
})
