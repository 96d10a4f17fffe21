import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { destroyKey, generateKeyInToken } from '../../src/keys/pkcs11/generate-key.ts'
import { readTokenKey } from '../../src/keys/token-key.ts'
import { eventually } from './eventually.ts'
import { pin, type TokenNode } from './token-node.ts'

/** What holds for every token: titles and bodies of tests, in the order in which they are run on one node. */
export const lifeWithToken: readonly [title: string, body: (node: TokenNode) => Promise<void>][] = [
  [
    'bootstrap: the key is made in the token, signs the request and the TLS; no private key and no PIN is on the disk',
    bootstrap,
  ],
  [
    'rotate, and crash between key and certificate: a new key each time; keys without a certificate are destroyed',
    rotateAfterCrash,
  ],
  ['lapse and return: with a new key, by the bootstrap credential', lapseAndReturn],
  ['token removed: it is said, and when it is back the renewal goes on', tokenRemoved],
  ['key destroyed: the node goes back to the bootstrap credential and has a new one', keyDestroyed],
  ['wrong PIN: it is tried once, said, and the right one in the file is taken', wrongPin],
]

async function bootstrap({ start, joined, inForce, labels, scan }: TokenNode): Promise<void> {
  await joined(start())
  assert.deepEqual(await labels(), [readTokenKey(inForce().key)?.label])
  scan()
}

async function rotateAfterCrash(node: TokenNode): Promise<void> {
  const running = node.start()
  await node.joined(running)
  const before = readTokenKey(node.inForce().key)?.label
  // What a crash leaves that came after the key and before its certificate.
  await generateKeyInToken(node.token, 'rollcall/n1/client/20260101T000000Z.0', 'ECDSA-P256')
  const { serial } = running.status().client
  await node.leap(running, 56, 'renewal')
  await node.replaced(running, serial)
  const now = readTokenKey(node.inForce().key)?.label
  assert.notEqual(now, before)
  assert.deepEqual(new Set(await node.labels()), new Set([before, now]))
}

async function lapseAndReturn({ start, joined, leap, replaced }: TokenNode): Promise<void> {
  const running = start()
  await joined(running)
  const { serial } = running.status().client
  await leap(running, 200, 'expired')
  await replaced(running, serial)
}

async function tokenRemoved(node: TokenNode): Promise<void> {
  const { equipment, start, joined, leap, said, replaced } = node
  const running = start()
  await joined(running)
  const { serial } = running.status().client
  await equipment.pull()
  await leap(running, 56, 'renewal', 1)
  await said(running, equipment.away)
  assert.equal(running.status().client.state, 'Valid')
  await equipment.putBack()
  await leap(running, 56, 'renewal')
  await replaced(running, serial)

  await node.stop()
  await equipment.pull()
  const again = start()
  await said(again, equipment.away)
  await equipment.putBack()
  await joined(again)
}

async function keyDestroyed({ start, token, labels, replaced, inForce, serialOnDisk }: TokenNode) {
  const serial = serialOnDisk()
  for (const label of await labels()) await destroyKey(token, label)
  const running = start()
  await replaced(running, serial)
  assert.ok((await labels()).includes(readTokenKey(inForce().key)?.label ?? ''))
}

async function wrongPin({ equipment, start, token, logins, joined, said, log }: TokenNode) {
  token.close()
  writeFileSync(equipment.pinFile, '99999999\n')
  const before = logins()
  const running = start()
  await said(running, /PIN/)
  const attempts = () => log().lines.filter(line => line.includes('cannot report')).length
  await eventually('more than one attempt was made', () => logins() > before && attempts() > 0)
  assert.equal(logins() - before, 1)
  writeFileSync(equipment.pinFile, `${pin}\n`)
  await joined(running)
}
