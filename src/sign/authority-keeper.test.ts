import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { asynchronousDisk, MachineDisk } from '../fleet/simulated/disk.ts'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { parseKeyReference } from '../keys/key-reference.ts'
import { generateSigner } from '../keys/private-key.ts'
import { selfSignedCa } from '../keys/self-signed.ts'
import type { Net } from '../ports.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { formatName } from '../x509/name.ts'
import { type AuthorityKeeper, startAuthorityKeeper } from './authority-keeper.ts'

const now = Date.UTC(2031, 0)
const day = 86_400_000

async function pair(commonName: string, days = 3650) {
  const random = seededRandom(commonName.length)
  const signer = generateSigner('Ed25519', random)
  const times = { notBefore: now - day, notAfter: now + days * day }
  const certificate = await selfSignedCa({ commonName, signer, random, ...times })
  return { certificate, key: signer.exportPem().reveal(), signer }
}

interface World {
  write(name: 'ca.crt' | 'ca.key', text: string): Promise<void>
  keep(): Promise<AuthorityKeeper>
  /** The subject of the CA that signs now. */
  signs(): string | undefined
  /** A minute passes. */
  minute(): Promise<void>
  log: ReturnType<typeof recordingLog>
  /** What serves /pki/signer.sock; undefined: the socket is not there. */
  serve(signer: Net['http'] | undefined): void
}

/** The body of a test with a disk and a clock of its own; `key` as in --signing-key. */
function onDisk(run: (world: World) => Promise<void>, key = '/pki/ca.key'): () => Promise<void> {
  return async () => {
    const clock = createManualClock(now)
    const disk = asynchronousDisk(new MachineDisk(new SeededRandom('keeper'), clock), async call => call())
    const log = recordingLog()
    let served: Net['http'] | undefined
    let keeper: AuthorityKeeper | undefined
    await disk.makeDirectory('/pki', 0o700)
    const options = {
      certificate: '/pki/ca.crt',
      key: parseKeyReference(key),
      certificateLifetimeSeconds: 86_400,
      disk: {
        ...disk,
        async stat(path: string) {
          if (!path.endsWith('.sock') || !served) return disk.stat(path)
          return { ...(await disk.stat('/pki')), kind: 'other', special: 'socket' } as const
        },
      },
      net: {
        http: async (...order: Parameters<Net['http']>) => served?.(...order) ?? assert.fail('no server'),
      },
      clock,
      log,
      owners: [],
      load: async () => assert.fail('no token is asked for'),
    }
    await run({
      write: (name, text) => disk.write(`/pki/${name}`, text, { mode: 0o600 }),
      async keep() {
        keeper = await startAuthorityKeeper(options)
        return keeper
      },
      signs() {
        const current = keeper?.current()
        return current && formatName(current.certificate.subject)
      },
      minute: () => clock.advance(60_000),
      log,
      serve(signer) {
        served = signer
      },
    })
    keeper?.stop()
    assert.equal(clock.pending(), 0, 'timers are left')
  }
}

test(
  'C-21: a changed pair is loaded; while its halves do not match, or one is gone, the good pair signs on and it is told once',
  onDisk(async ({ write, keep, signs, minute, log }) => {
    const [old, next] = [await pair('old'), await pair('next')]
    await write('ca.crt', old.certificate)
    await write('ca.key', old.key)
    const keeper = await keep()
    let changes = 0
    keeper.onChange(() => changes++)
    for (const half of [next.certificate, `${old.certificate}${next.certificate}`, '']) {
      await write('ca.crt', half)
      await minute()
      await minute()
      assert.equal(signs(), 'CN=old')
      assert.match(keeper.problem() ?? '', /^\/pki\/ca\.crt: the signing CA cannot be used: /)
    }
    assert.equal(log.lines.filter(line => line.startsWith('warn: a signing CA changed')).length, 3)
    assert.equal(changes, 0)
    await write('ca.crt', next.certificate)
    await write('ca.key', next.key)
    await minute()
    assert.deepEqual([signs(), changes, keeper.problem()], ['CN=next', 1, undefined])
    assert.equal(log.lines.at(-1), 'info: a signing CA is in order again')
  }),
)

test(
  'a pair that does not match at the start ends the start',
  onDisk(async ({ write, keep }) => {
    await assert.rejects(keep(), error => hasCode(error, 'USAGE') && /ca\.crt.*ENOENT/.test(error.message))
    await write('ca.crt', (await pair('one')).certificate)
    await write('ca.key', (await pair('another')).key)
    await assert.rejects(keep(), error => hasCode(error, 'SIGNER_UNUSABLE'))
  }),
)

test(
  'a CA that ends sooner than its certificates would is told of at the start and every day',
  onDisk(async ({ write, keep, minute, log }) => {
    const short = await pair('short', 0.5)
    await write('ca.crt', short.certificate)
    await write('ca.key', short.key)
    await keep()
    await minute()
    const told = () => log.lines.filter(line => line.includes('ends sooner')).length
    assert.equal(told(), 1)
    for (let passed = 0; passed < 24 * 60; passed++) await minute()
    assert.equal(told(), 2)
  }),
)

test(
  'an external signer that is away is waited for: from the start, when a signature failed, and when nothing is to be signed',
  onDisk(async ({ write, keep, signs, minute, serve, log }) => {
    const { certificate, signer } = await pair('remote')
    const publicKey = Buffer.from(signer.publicKey).toString('base64')
    await write('ca.crt', certificate)
    const keeper = await keep()
    let changes = 0
    keeper.onChange(() => changes++)
    assert.equal(signs(), undefined)
    assert.match(keeper.problem() ?? '', /external signer \/pki\/signer\.sock: .* is not there yet/)
    serve(async () => ({ status: 200, body: JSON.stringify({ publicKey }) }))
    await minute()
    assert.deepEqual([signs(), changes], ['CN=remote', 1])

    const authority = keeper.current() ?? assert.fail()
    serve(undefined)
    await assert.rejects(authority.signer.sign(Buffer.from('x')), error => {
      keeper.failed?.(authority, error)
      return hasCode(error, 'SIGNER_UNREACHABLE')
    })
    await minute()
    assert.deepEqual([signs(), changes], [undefined, 1])
    serve(async () => ({ status: 200, body: JSON.stringify({ publicKey }) }))
    await minute()
    assert.deepEqual([signs(), changes], ['CN=remote', 2])

    serve(undefined)
    await minute()
    assert.equal(signs(), undefined, 'found out without a signature')
    assert.equal(log.lines.filter(line => line === 'warn: a signing CA cannot sign').length, 3)
  }, 'unix:/pki/signer.sock'),
)
