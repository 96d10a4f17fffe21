import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type ApiConnection, connect, connectionOf } from './support/api-connection.ts'
import { eventually } from './support/eventually.ts'
import {
  type RollcallProcess,
  runRollcall,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'
import { mountSmallDisk, noSmallDisk } from './support/small-disk.ts'

const folder = temporaryFolder()
const place = join(folder.path, 'disk')
const directory = join(place, 'data')
const ballast = join(place, 'ballast')
mkdirSync(place)
const disk = mountSmallDisk(place, '8m')
const skip = disk ? false : noSmallDisk

let server: RollcallProcess | undefined
let api: ApiConnection
after(async () => {
  api?.close()
  await server?.stop()
  disk?.unmount()
  folder.remove()
})

const maps = '/api/v1/namespaces/default/configmaps'
const filling = 'x'.repeat(100_000)
const acknowledged: string[] = []

async function start(): Promise<RollcallProcess> {
  const started = startRollcall(['server', '--dir', directory, '--port', '0'])
  await started.ready
  api = connect(await connectionOf(join(directory, 'admin.kubeconfig')))
  return started
}

/** The answer that is no 201, or undefined when the object is stored. */
async function store(name: string) {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { filling } }
  const answer = await api.send('POST', maps, object)
  if (answer.status !== 201) return answer
  acknowledged.push(name)
  return undefined
}

/** That each acknowledged object is there, and nothing that was refused. */
async function assertKept(): Promise<void> {
  const names: string[] = []
  let next = ''
  do {
    const { status, body } = await api.send('GET', `${maps}?labelSelector=&limit=20${next}`)
    assert.equal(status, 200)
    for (const { metadata } of body.items ?? []) names.push(metadata.name)
    next = body.metadata?.continue ? `&continue=${body.metadata.continue}` : ''
  } while (next)
  assert.deepEqual(names.filter(name => name.startsWith('fill-')).sort(), acknowledged.toSorted())
}

test('a full disk refuses writes in one sentence and loses nothing; with room again, all goes on', {
  skip,
}, async () => {
  writeFileSync(ballast, Buffer.alloc(2 * 1024 * 1024))
  server = await start()

  let refused: Awaited<ReturnType<typeof store>>
  for (let i = 0; i < 200 && !refused; i++) refused = await store(`fill-${i}`)
  assert.ok(refused, 'twenty megabytes fit on a disk of eight')
  assert.equal(refused.status, 500)
  assert.equal(refused.body.reason, 'InternalError')
  assert.match(refused.body.message ?? '', /state\.db: database or disk is full; check free space/)
  assert.ok(acknowledged.length > 0)
  const ready = await api.send('GET', '/readyz')
  assert.equal(ready.status, 500)
  assert.match(ready.body.message ?? '', /^\[-\]storage failed/m)
  await assertKept()

  rmSync(ballast)
  await eventually('writes are taken again', async () => !(await store('fill-after')))
  await eventually('the server is ready again', async () => (await api.send('GET', '/readyz')).status === 200)
  await assertKept()

  api.close()
  assert.equal(await server.stop(), 0)
  server = await start()
  await assertKept()
})

test('a --dir on a file system that is read-only ends with 1 and one sentence', { skip }, async () => {
  if (!server) server = await start()
  api.close()
  await server.stop()
  server = undefined
  assert.ok(disk?.makeReadOnly())
  const refusal = async (dir: string) => {
    const { code, stdout, stderr } = await runRollcall(['server', '--dir', dir, '--port', '0'])
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    return stderr
  }
  assert.equal(
    await refusal(directory),
    `rollcall: Cannot use the data directory ${directory}: the file system is read-only. Give a writable one with --dir.\n`,
  )
  const below = join(place, 'new')
  assert.match(
    await refusal(below),
    new RegExp(
      `^rollcall: Cannot use the data directory ${below}: .*\\. Give a writable one with --dir\\.\\n$`,
    ),
  )
})
