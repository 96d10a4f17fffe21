import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { keyAttestor } from '../../keys/attestation/attestor.ts'
import { attestedCluster, newKey } from '../../testing/attested-cluster.ts'
import { runCommand } from '../../testing/command-run.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'
import { encodePem } from '../../x509/pem.ts'
import { register as registerCsr } from '../csr/csr.ts'
import { register } from './identity.ts'

test(
  'machines that wait are listed with their whole key, approved by it, and revoked',
  onCluster(async plain => {
    const cluster = await attestedCluster(plain)
    const run = (...words: string[]) =>
      runCommand(register, cluster.admin, cluster.clock, 'identity', ...words)
    const own = newKey()
    const machine = keyAttestor('a key', async () => ({ signer: own, async check() {}, close() {} }))
    await cluster.attest(machine, 'n1')
    const { sha256 } = (await cluster.identity('n1')).spec.key
    assert.match(
      (await run('ls')).stdout,
      new RegExp(`n1 +Pending +PublicKey +${sha256} +0s +10\\.0\\.0\\.11`),
    )
    await assert.rejects(run('approve', 'n1', '--key', '0'.repeat(64)), /has another key/)
    await assert.rejects(run('approve', 'n2'), /no machine has asked/)
    assert.equal((await run('approve', 'n1', '--key', sha256)).stdout, `approved n1: PublicKey ${sha256}\n`)
    assert.equal((await cluster.attest(machine, 'n1')).why, 'attested')
    await run('revoke', 'n1')
    assert.match((await cluster.attest(machine, 'n1')).why, /revoked/)
    await assert.rejects(run('approve', 'n1'), /revoked/)
  }),
)

test(
  'a public key that is registered beforehand waits for nobody',
  onCluster(async plain => {
    const cluster = await attestedCluster(plain)
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-identity-'))
    const own = newKey()
    const file = join(folder, 'n1.pub')
    writeFileSync(file, encodePem('PUBLIC KEY', own.publicKey))
    const run = (...words: string[]) =>
      runCommand(register, cluster.admin, cluster.clock, 'identity', ...words)
    await run('approve', 'n1', '--public-key', file, '--hardware')
    rmSync(folder, { recursive: true })
    const machine = keyAttestor('a key', async () => ({ signer: own, async check() {}, close() {} }))
    const key = newKey()
    const { by } = await cluster.attest(machine, 'n1', key)
    const { name } = await cluster.request(by ?? assert.fail('not attested'), 'n1', key)
    assert.match((await cluster.read(name)).status?.conditions?.[0]?.message ?? '', /evidence: hardware/)
  }),
)

test(
  'csr explain says what is known of the machine of an attested request',
  onCluster(async plain => {
    // Nobody approves.
    const cluster = await attestedCluster(plain, { only: ['signing'] })
    const explain = async (name: string) =>
      (await runCommand(registerCsr, cluster.admin, cluster.clock, 'csr', 'explain', name)).stdout
    const own = newKey()
    const machine = keyAttestor('a key', async () => ({ signer: own, async check() {}, close() {} }))
    await cluster.attest(machine, 'n1')
    await cluster.decideIdentity('n1', 'Approved')
    const key = newKey()
    const { by = assert.fail('not attested') } = await cluster.attest(machine, 'n1', key)
    const good = await cluster.request(by, 'n1', key)
    const text = await explain(good.name)
    assert.match(text, /waits for +the approver/)
    // To bind its account to that would let it have any name.
    assert.doesNotMatch(text, /nodeclient/)
    const bad = await cluster.request(by, 'n1', newKey())
    assert.match(await explain(bad.name), /AttestedOtherKey/)
  }),
)
