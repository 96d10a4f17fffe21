import assert from 'node:assert/strict'
import { copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { it, type TestContext } from 'node:test'
import { signerNames } from '../src/kube/types.ts'
import { connect, connectionOf } from './support/api-connection.ts'
import { requestObject } from './support/certificate-request.ts'
import { eventually } from './support/eventually.ts'
import { runRollcall, startRollcall, temporaryFolder } from './support/rollcall-process.ts'

const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

async function running(t: TestContext, dir: string) {
  const server = startRollcall(['server', '--dir', dir, '--port', '0'])
  t.after(() => server.stop())
  await server.ready
  return server
}

/** A client certificate for a node, by the bootstrap token. */
async function certified(dir: string, name: string): Promise<string> {
  const api = connect(await connectionOf(join(dir, 'bootstrap.kubeconfig')))
  try {
    const subject = { commonName: `system:node:${name}`, organizations: ['system:nodes'] }
    const asked = await requestObject({ name, signerName: signerNames.kubeletClient, ...subject })
    assert.equal((await api.send('POST', csrs, asked)).status, 201)
    return await eventually('the certificate', async () => {
      const { body } = await api.send('GET', `${csrs}/${name}`)
      return (body.status as { certificate?: string } | undefined)?.certificate
    })
  } finally {
    api.close()
  }
}

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

const holdersInLedger = (dir: string): string[] => {
  const ledger = new DatabaseSync(join(dir, 'ledger.db'), { readOnly: true })
  const rows = ledger.prepare('SELECT leaf FROM leaves').all()
  ledger.close()
  return rows.map(({ leaf }) => JSON.parse(String(leaf)).holder)
}

it('a backup has no private key but when it is asked for; restored elsewhere, CA, ledger and decisions go on', async t => {
  const folder = temporaryFolder()
  t.after(() => folder.remove())
  const [dir, bare, whole, other] = ['D', 'bare', 'whole', 'other'].map(name => join(folder.path, name)) as [
    string,
    string,
    string,
    string,
  ]
  const server = await running(t, dir)
  await certified(dir, 'a')
  const backup = await runRollcall(['server', 'backup', '--dir', dir, '--to', bare])
  assert.equal(backup.code, 0, backup.stderr)
  assert.match(
    backup.stdout,
    /, 1 certificates in the ledger, 1 files of the decision log, 0 private keys\n$/,
  )
  assert.match(backup.stderr, /^\d+ private keys of .* are not in it/)
  const withKeys = await runRollcall(['server', 'backup', '--dir', dir, '--to', whole, '--with-keys'])
  assert.equal(withKeys.code, 0, withKeys.stderr)
  const again = await runRollcall(['server', 'backup', '--dir', dir, '--to', whole])
  assert.match(again.stderr, /is there already/)
  await certified(dir, 'after')
  await server.stop()

  const holdsKey = (path: string) => /PRIVATE KEY/.test(readFileSync(path, 'latin1'))
  assert.deepEqual(filesOf(bare).filter(holdsKey), [])
  assert.ok(filesOf(whole).filter(holdsKey).length >= 5)
  for (const path of [...filesOf(bare), ...filesOf(whole)])
    assert.equal(statSync(path).mode & 0o777, 0o600, path)
  for (const path of [bare, whole, join(whole, 'pki')]) assert.equal(statSync(path).mode & 0o777, 0o700, path)

  const restored = await runRollcall(['server', 'restore', '--from', bare, '--dir', other])
  assert.equal(restored.code, 0, restored.stderr)
  assert.match(restored.stderr, /There is no .*pki\/ca\.key: put your copy there/)
  const keyless = startRollcall(['server', '--dir', other, '--port', '0'])
  await assert.rejects(keyless.ready, /put the CA's key back/)
  copyFileSync(join(dir, 'pki', 'ca.key'), join(other, 'pki', 'ca.key'))
  await (await running(t, other)).stop()
  assert.equal(
    readFileSync(join(other, 'pki', 'ca.crt'), 'utf8'),
    readFileSync(join(dir, 'pki', 'ca.crt'), 'utf8'),
  )

  // Into the place of what is there, where one certificate more was issued since.
  const back = await runRollcall(['server', 'restore', '--from', whole, '--dir', dir])
  assert.equal(back.code, 0, back.stderr)
  assert.deepEqual(holdersInLedger(dir), ['system:node:a'])
  await running(t, dir)
  await certified(dir, 'b')
  assert.deepEqual(holdersInLedger(dir).sort(), ['system:node:a', 'system:node:b'])
  await eventually('the log is whole, and the published head agrees', async () => {
    const cluster = ['--kubeconfig', join(dir, 'admin.kubeconfig')]
    const { code } = await runRollcall(['audit', 'verify', ...cluster, '--log', join(dir, 'decisions.log')])
    return code === 0
  })

  const foreign = join(folder.path, 'foreign')
  await (await running(t, foreign)).stop()
  const refused = await runRollcall(['server', 'restore', '--from', whole, '--dir', foreign])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /is another CA than that of the backup/)
})
