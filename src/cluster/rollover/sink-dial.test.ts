import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateSigner } from '../../keys/private-key.ts'
import { selfSignedCa } from '../../keys/self-signed.ts'
import { authorityOf } from '../../sign/authority.ts'
import { listenHttps } from '../../testing/https-server.ts'
import { ApiServerTrials } from '../generic/api-servers.ts'
import { hostPorts } from '../host-ports.ts'
import { issuePair } from '../issue-pair.ts'
import { CaStore } from './ca-store.ts'
import { dialWith } from './sink-dial.ts'

const day = 86_400_000

test('a place that holds the bundle to the letter is refused while what is served is of another CA; the chain tells its form', async () => {
  const { clock, random, disk } = hostPorts
  const directory = mkdtempSync(join(tmpdir(), 'dial-'))
  const now = clock.now()
  const signer = generateSigner('ECDSA-P256', random)
  const times = { notBefore: now - day, notAfter: now + 100 * day }
  const pem = await selfSignedCa({ commonName: 'kubernetes', signer, random, ...times })
  const first = { pem, ...authorityOf(pem, signer) }
  const role = 'apiserver-serving'
  const cas = new CaStore({ directory, first, disk, clock, random })
  await cas.create(role, 2)
  await cas.crossSign(role, 2, 1)
  const leafOf = (generation: number) => {
    const ca = cas.authority(role, generation)
    assert(ca)
    const identity = { commonName: 'kube-apiserver', organizations: [], usage: 'server auth' } as const
    return issuePair(ca, { ...identity, ipAddresses: ['127.0.0.1'], lifetime: day, now }, random)
  }
  const [old, next] = await Promise.all([leafOf(1), leafOf(2)])
  const api = await listenHttps({ cert: old.certificate, key: old.key.reveal() }, (_, answer) => answer.end())
  try {
    const port = Number(new URL(api.url).port)
    const server = new ApiServerTrials(
      { name: 'cp-1', host: '127.0.0.1', port },
      { cas, role, clock, random },
    )
    const newPem = cas.authority(role, 2)?.pem ?? ''
    const serve = (certificate: string, key: string) =>
      api.server.setSecureContext({ cert: certificate, key })

    assert.equal((await server.presented())?.authority, 1)
    assert.equal(await dialWith([pem, `${pem}${newPem}`, ''], [server]), undefined)
    assert.equal(await dialWith([pem, newPem], [server]), 'cp-1: UNABLE_TO_VERIFY_LEAF_SIGNATURE')

    serve(next.certificate + cas.cross(role, 2, 1), next.key.reveal())
    const bridged = await server.presented()
    assert.deepEqual([bridged?.authority, bridged?.mode], [2, 'bridged'])
    assert.deepEqual(await server.probes(1, 2), { oldOnly: true, newOnly: true, both: true })

    serve(next.certificate, next.key.reveal())
    const bare = await server.presented()
    assert.deepEqual([bare?.authority, bare?.mode], [2, 'bare'])
    assert.deepEqual(await server.probes(1, 2), { oldOnly: false, newOnly: true, both: true })
    assert.match(`${await dialWith([pem], [server])}`, /^cp-1: /)
    assert.equal(await server.trustedBy(newPem, 2), true)
    assert.equal(await server.trustedBy(pem, 2), false)
  } finally {
    await api.stop()
    rmSync(directory, { recursive: true })
  }
})
