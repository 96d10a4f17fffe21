import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemDisk } from '../host/disk.ts'
import { systemRandom } from '../host/random.ts'
import { parseKubeconfig, selectContext } from '../kube/kubeconfig.ts'
import { resources, type Secret } from '../kube/types.ts'
import { startEmbeddedCluster } from '../testing/embedded-cluster.ts'
import { ensureBootstrapKubeconfig, tokenLifetime } from './bootstrap-kubeconfig.ts'

async function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bootstrap-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const cluster = await startEmbeddedCluster()
  t.after(() => cluster.close())
  const path = join(folder, 'bootstrap.kubeconfig')
  const ensure = (server = 'https://127.0.0.1:6443', later = 0) =>
    ensureBootstrapKubeconfig({
      path,
      server,
      certificateAuthority: cluster.ca.pem,
      client: cluster.admin,
      disk: systemDisk,
      random: systemRandom,
      clock: { ...cluster.clock, now: () => cluster.clock.now() + later },
    })
  const inFile = () => {
    const { cluster: to, user } = selectContext(parseKubeconfig(readFileSync(path, 'utf8'), path))
    return { server: to.server, token: user.token?.reveal() }
  }
  const tokens = async () => {
    const { items } = await cluster.admin.list<Secret>(resources.secrets, { namespace: 'kube-system' })
    return items.filter(item => item.type === 'bootstrap.kubernetes.io/token').length
  }
  return { path, ensure, inFile, tokens }
}

test('a token that is good is kept, also when the API moved to another port', async t => {
  const { ensure, inFile, tokens } = await start(t)
  await ensure()
  const [first, count] = [inFile(), await tokens()]
  await ensure('https://127.0.0.1:7443')
  assert.deepEqual(inFile(), { server: 'https://127.0.0.1:7443', token: first.token })
  assert.equal(await tokens(), count)
})

test('a token past half its life is followed by a new one in time', async t => {
  const { ensure, inFile } = await start(t)
  const again = await ensure()
  assert.ok(again <= tokenLifetime / 2)
  const { token } = inFile()
  await ensure(undefined, tokenLifetime * 0.6)
  assert.notEqual(inFile().token, token)
})

test('a file that somebody spoiled is written anew', async t => {
  const { path, ensure, inFile } = await start(t)
  for (const text of ['garbage', '', '{}', ': [']) {
    writeFileSync(path, text)
    await ensure()
    assert.match(inFile().token ?? '', /^[a-z0-9]{6}\.[a-z0-9]{16}$/)
  }
})
