import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hasCode } from '../errors.ts'
import { systemClock } from '../host/clock.ts'
import { systemDisk } from '../host/disk.ts'
import { systemRandom } from '../host/random.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { verifyChain } from '../x509/chain.ts'
import { leafLifetime, openPki } from './pki.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'rollcall-pki-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const open = (directory: string, now = systemClock.now(), addresses = ['127.0.0.1']) =>
  openPki({
    directory,
    addresses,
    disk: systemDisk,
    random: systemRandom,
    clock: { ...systemClock, now: () => now },
  })

test('a fresh PKI holds what kubeadm names, keys for the owner alone, and its leaves chain to the CA', async t => {
  const directory = folder(t)
  const pki = await open(directory)
  const names = [
    'apiserver-kubelet-client.crt',
    'apiserver-kubelet-client.key',
    'apiserver.crt',
    'apiserver.key',
    'ca.crt',
    'ca.key',
    'sa.key',
    'sa.pub',
  ]
  assert.deepEqual(readdirSync(directory).sort(), names)
  for (const name of names.filter(name => name.endsWith('.key'))) {
    assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name)
  }
  const now = systemClock.now()
  const chain = parseCertificatesPem(pki.apiserver.certificate)
  assert.deepEqual(verifyChain(chain, [pki.ca.certificate], { now, usage: 'serverAuth' }), { ok: true })
})

test('report 28: opened again, nothing is made anew; a leaf near its end and one for a new address are', async t => {
  const directory = folder(t)
  const first = await open(directory)
  const again = await open(directory)
  assert.equal(again.apiserver.certificate, first.apiserver.certificate)
  assert.equal(again.ca.pem, first.ca.pem)
  const later = await open(directory, systemClock.now() + leafLifetime * 0.8)
  assert.notEqual(later.apiserver.certificate, first.apiserver.certificate)
  assert.equal(later.ca.pem, first.ca.pem)
  const moved = await open(directory, systemClock.now() + leafLifetime * 0.8, ['127.0.0.1', '127.0.0.2'])
  assert.notEqual(moved.apiserver.certificate, later.apiserver.certificate)
})

test('a CA whose key is missing or another is refused and nothing is overwritten', async t => {
  const directory = folder(t)
  const { ca } = await open(directory)
  const other = folder(t)
  const foreign = await openPki({
    directory: other,
    addresses: [],
    disk: systemDisk,
    random: systemRandom,
    clock: systemClock,
  })
  writeFileSync(join(directory, 'ca.crt'), foreign.ca.pem)
  await assert.rejects(open(directory), error => hasCode(error, 'KEY_MISMATCH'))
  writeFileSync(join(directory, 'ca.crt'), ca.pem)
  rmSync(join(directory, 'ca.key'))
  await assert.rejects(open(directory), error => hasCode(error, 'KEY_MISMATCH'))
})

test('a file that holds no key is refused by its name and stays as it is', async t => {
  const directory = folder(t)
  await open(directory)
  for (const name of ['ca.key', 'apiserver.key', 'sa.key']) {
    const path = join(directory, name)
    const key = readFileSync(path)
    writeFileSync(path, 'garbage')
    await assert.rejects(
      open(directory),
      error => hasCode(error, 'KEY_MISMATCH') && error.message.startsWith(`${path}: `),
    )
    assert.equal(readFileSync(path, 'utf8'), 'garbage')
    writeFileSync(path, key)
  }
})

test('a file that cannot be read is told in one sentence with its name', async t => {
  const directory = folder(t)
  const path = join(directory, 'ca.crt')
  mkdirSync(path)
  await assert.rejects(
    open(directory),
    error => hasCode(error, 'DIRECTORY_UNUSABLE') && error.message === `${path} cannot be read (EISDIR).`,
  )
})
