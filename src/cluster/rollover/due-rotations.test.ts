import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whoAmI } from '../../doctor/requests/who-am-i.ts'
import { generateSigner } from '../../keys/private-key.ts'
import { selfSignedCa } from '../../keys/self-signed.ts'
import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { silentLog } from '../../ports.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import type { CertificateAuthority } from '../issue-pair.ts'
import { beginDueRotations } from './due-rotations.ts'

const day = 86_400_000

async function caThatEnds(notBefore: number, notAfter: number): Promise<CertificateAuthority> {
  const random = seededRandom(5)
  const signer = generateSigner('Ed25519', random)
  const pem = await selfSignedCa({ commonName: 'ca', signer, notBefore, notAfter, random })
  const [certificate] = parseCertificatesPem(pem)
  assert(certificate)
  return { pem, certificate, signer }
}

test(
  'a CA near its end is given a rotation once; one with years to go, one in a token, and one that rotates already are not',
  onCluster(async ({ admin, reader, clock }) => {
    const now = clock.now()
    const old = await caThatEnds(now - 3640 * day, now + 10 * day)
    const young = await caThatEnds(now, now + 3650 * day)
    const { signer } = old
    const token = {
      ...old,
      signer: { publicKey: signer.publicKey, algorithm: signer.algorithm, sign: signer.sign },
    }
    const rotations = () => reader.list<CARotationObject>(caRotation.ref)
    const begin = (ca: CertificateAuthority) =>
      beginDueRotations({
        client: admin,
        rotations: rotations(),
        authority: (role, generation) => (role === 'client' && generation === 1 ? ca : undefined),
        leafLife: 365 * day,
        clock,
        log: silentLog,
      })
    await begin(young)
    await begin(token as CertificateAuthority)
    assert.deepEqual(rotations(), [])
    await begin(old)
    await begin(old)
    assert.deepEqual(
      rotations().map(({ metadata, spec }) => [metadata.name, spec.from, spec.to, spec.author]),
      [['client-2', 1, 2, await whoAmI(admin)]],
    )
  }),
)
