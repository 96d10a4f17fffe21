// Signatures a second by a P-256 key in a SoftHSM2 token through our pool, and one at a time on the bare module.
import { systemClock } from '../src/host/clock.ts'
import { systemDisk } from '../src/host/disk.ts'
import { cryptokiLoader } from '../src/host/pkcs11.ts'
import { ckm } from '../src/keys/pkcs11/cryptoki.ts'
import { generateKeyInToken } from '../src/keys/pkcs11/generate-key.ts'
import { findKey } from '../src/keys/pkcs11/key-in-token.ts'
import { signerInToken } from '../src/keys/pkcs11/pkcs11-signer.ts'
import { openToken } from '../src/keys/pkcs11/token.ts'
import { parsePkcs11Uri } from '../src/keys/pkcs11/uri.ts'
import { softHsm } from '../test/support/softhsm.ts'
import { inParallel, line, measured, whole } from './measure.ts'

const COUNT = 20_000
const WARM_UP = 2000

const hsm = softHsm('bench')
try {
  Object.assign(process.env, hsm.environment)
  const uri = parsePkcs11Uri(hsm.uri('token=bench'))
  const token = openToken({ uri, load: cryptokiLoader(), disk: systemDisk, clock: systemClock })
  const match = { id: await generateKeyInToken(token, 'bench', 'ECDSA-P256') }
  const signer = await signerInToken(token, match)
  const tbs = new Uint8Array(600)
  const items = (count: number) => Array.from({ length: count }, () => tbs)
  const sign = async (bytes: Uint8Array) => void (await signer.sign(bytes))
  await inParallel(items(WARM_UP), 16, sign)
  const pooled = await measured(() => inParallel(items(COUNT), 16, sign))

  const digest = new Uint8Array(32)
  const bare = await measured(() =>
    token.use(async (connection, session) => {
      const { privateKey } = findKey(connection, session, match)
      for (let made = 0; made < COUNT; made++)
        await connection.cryptoki.sign(session, ckm.ecdsa, privateKey, digest, 64)
    }),
  )
  token.close()
  const perSecond = (wall: number) => whole((COUNT * 1000) / wall)
  line(
    'hsm signatures',
    `${perSecond(pooled.wall)} a second (SoftHSM2, ECDSA P-256, four sessions)`,
    `${perSecond(bare.wall)} one at a time on the bare module`,
  )
} finally {
  hsm.remove()
}
