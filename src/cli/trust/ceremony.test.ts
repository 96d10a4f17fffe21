import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { hasCode } from '../../errors.ts'
import type { TrustBundleObject } from '../../kube/rollcall/trust-bundle.ts'
import { trustBundle } from '../../kube/rollcall/trust-bundle.ts'
import { runCommand } from '../../testing/command-run.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'
import { acceptBundle } from '../../trust/accept-bundle.ts'
import { signedBundleOf } from '../../trust/bundle-object.ts'
import { authority } from '../../trust/testing/ceremony-table.ts'
import { decodeTrustRoots } from '../../trust/trust-roots.ts'
import { encodePem } from '../../x509/pem.ts'
import { register } from './trust.ts'

test(
  'two of three roots sign for the CA and its standby at two meetings, offline; a node takes what both have signed',
  onCluster(async ({ admin, clock }) => {
    const folder = mkdtempSync(join(tmpdir(), 'ceremony-'))
    const path = (name: string) => join(folder, name)
    const trust = (...words: string[]) => runCommand(register, admin, clock, 'trust', ...words)
    try {
      for (const name of ['a', 'b', 'c', 'stranger']) await trust('root', 'generate', path(name))
      assert.equal(statSync(path('a')).mode & 0o777, 0o600)
      const cas = await Promise.all([1, 2].map(seed => authority(seed)))
      for (const [index, { certificate }] of cas.entries())
        writeFileSync(path(`ca-${index + 1}`), encodePem('CERTIFICATE', certificate.raw))
      const publics = ['a', 'b', 'c'].map(name => path(`${name}.pub`))
      const printed = await trust('roots', '--cluster', 'table', '--threshold', '2', ...publics)
      writeFileSync(path('roots'), printed.stdout)
      assert.equal((await trust('root', 'public', path('b'))).stdout, readFileSync(path('b.pub'), 'utf8'))

      const roots = ['--roots', path('roots')]
      const meeting = ['ceremony', ...roots, '--role', 'client', '--ca', path('ca-1'), '--ca', path('ca-2')]
      const first = await trust(...meeting, '--key', path('a'), '--out', path('monday'))
      assert.equal(first.exitCode, 3, 'one of two is not enough')
      assert.match(first.stdout, /^client-1 Steady: CN=rollcall-client-1, CN=rollcall-client-2; 1 of the 2/)
      const add = ['ceremony', ...roots, '--add', path('monday')]
      const second = await trust(...add, '--key', path('c'), '--out', path('friday'))
      assert.equal(second.exitCode, 0)

      const pinned = decodeTrustRoots(readFileSync(path('roots'), 'utf8'))
      assert(pinned)
      const signed = documents(path('friday'))
      const holding = { roots: pinned, role: 'client', now: clock.now() + 1000 } as const
      assert.deepEqual(
        signed.map(one => [one.spec.purpose, acceptBundle(signedBundleOf(one), holding).ok]),
        [
          ['Steady', true],
          ['Widened', true],
          ['Narrowed', true],
          ['Restored', true],
          ['Narrowed', true],
        ],
      )
      assert(documents(path('monday')).every(one => !acceptBundle(signedBundleOf(one), holding).ok))
      assert.match((await trust('publish', path('friday'))).stdout, /^client-1 is there\n/)
      assert.match((await trust('publish', path('friday'))).stdout, /^client-1 was there already/)
      const { items } = await admin.list<TrustBundleObject>(trustBundle.ref)
      assert.equal(items.length, signed.length)

      const foreign = trust(...meeting, '--key', path('stranger'), '--out', path('never'))
      await assert.rejects(foreign, error => hasCode(error, 'TRUST_CEREMONY_INVALID'))
      const tooFew = trust(...meeting, '--standbys', '2', '--key', path('a'), '--out', path('never'))
      await assert.rejects(tooFew, error => hasCode(error, 'USAGE'))
      const again = trust(...add, '--key', path('c'), '--out', path('friday'))
      await assert.rejects(again, 'what was signed is not written over')
    } finally {
      rmSync(folder, { recursive: true })
    }
  }),
)

function documents(path: string): TrustBundleObject[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).map(document => document.toJS() as TrustBundleObject)
}
