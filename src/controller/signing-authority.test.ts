import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { RollcallError } from '../errors.ts'
import { generateSigner } from '../keys/private-key.ts'
import { selfSignedCa } from '../keys/self-signed.ts'
import type { KubeClient } from '../kube/client.ts'
import { type CertificateSigningRequest, resources, signerNames } from '../kube/types.ts'
import { type Authority, type AuthoritySource, authorityOf } from '../sign/authority.ts'
import { calm, onCluster } from '../testing/controlled-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { decodePem } from '../x509/pem.ts'

/** A source whose CA a test sets. */
function settable(
  authority: Authority | undefined,
): AuthoritySource & { set(next?: Authority): void; failures: unknown[] } {
  const listeners = new Set<() => void>()
  let current = authority
  const failures: unknown[] = []
  return {
    failures,
    current: () => current,
    problem: () => (current ? undefined : 'token "ca" is not there'),
    failed(_, error) {
      failures.push(error)
      current = undefined
    },
    onChange(run) {
      listeners.add(run)
      return () => void listeners.delete(run)
    },
    set(next) {
      current = next
      for (const run of listeners) run()
    },
  }
}

test(
  'while the CA’s key is away an approved request waits and says so; when it is back it is signed at once',
  onCluster(async cluster => {
    const good = authorityOf(cluster.ca.pem, cluster.ca.signer)
    const away = {
      ...good,
      signer: {
        publicKey: good.signer.publicKey,
        algorithm: good.signer.algorithm,
        sign: async () => {
          throw new RollcallError('TOKEN_ABSENT', 'token "ca" was removed')
        },
      },
    }
    const source = settable(away)
    const metrics = new Registry()
    await cluster.start({ signers: { [signerNames.kubeletClient]: source }, metrics })
    const first = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    const second = await cluster.ask({ by: cluster.bootstrapper, node: 'b' })
    assert.deepEqual(
      [await cluster.fate(first), source.failures.length, await cluster.fate(second)],
      ['Approved AutoApproved', 1, 'Approved AutoApproved'],
    )
    assert.ok((await cluster.eventsOf(second)).includes('Warning SignerUnavailable'))
    assert.match(await metrics.metrics(), /^rollcall_signing_ca_usable\{signer="[^"]+"\} 0$/m)
    source.set(good)
    await calm()
    assert.equal(await cluster.fate(first), 'Approved AutoApproved, issued')
    assert.equal(await cluster.fate(second), 'Approved AutoApproved, issued')
    assert.match(await metrics.metrics(), /^rollcall_signing_ca_usable\{signer="[^"]+"\} 1$/m)
  }),
)

test(
  'a CA that never changes is asked again every 10 s while its key is away, and one Event tells of it',
  onCluster(async cluster => {
    let away = true
    const { publicKey, algorithm } = cluster.ca.signer
    const sign = async (tbs: Uint8Array) => {
      if (away) throw new RollcallError('TOKEN_ABSENT', 'token "ca" was removed')
      return cluster.ca.signer.sign(tbs)
    }
    const ca = { certificate: cluster.ca.pem, signer: { publicKey, algorithm, sign } }
    await cluster.start({ signers: { [signerNames.kubeletClient]: ca } })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.clock.advance(60_000)
    assert.equal(await cluster.fate(name), 'Approved AutoApproved')
    const told = (await cluster.eventsOf(name)).filter(event => event === 'Warning SignerUnavailable')
    assert.equal(told.length, 1)
    away = false
    await cluster.clock.advance(10_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)

test(
  'an expired CA that is replaced signs what waited for it at once, however often that failed',
  onCluster(async cluster => {
    const signer = generateSigner('Ed25519', seededRandom(9))
    const now = cluster.clock.now()
    const times = { notBefore: now - 86_400_000, notAfter: now - 3_600_000 }
    const pem = await selfSignedCa({ commonName: 'old', signer, random: seededRandom(9), ...times })
    const source = settable(authorityOf(pem, signer))
    await cluster.start({ signers: { [signerNames.kubeletClient]: source } })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.clock.advance(600_000)
    assert.equal(await cluster.fate(name), 'Approved AutoApproved')
    source.set(authorityOf(cluster.ca.pem, cluster.ca.signer))
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)

test(
  'C-35: a certificate that its CA cuts short says so in an Event and a counter',
  onCluster(async cluster => {
    const signer = generateSigner('Ed25519', seededRandom(9))
    const now = cluster.clock.now()
    const times = { notBefore: now - 86_400_000, notAfter: now + 3_600_000 }
    const pem = await selfSignedCa({ commonName: 'short', signer, random: seededRandom(9), ...times })
    const metrics = new Registry()
    await cluster.start({ signers: { [signerNames.kubeletClient]: { certificate: pem, signer } }, metrics })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.ok((await cluster.eventsOf(name)).includes('Warning CappedByCA'))
    assert.match(await metrics.metrics(), /^rollcall_certificates_capped_total\{signer="[^"]+"\} 1$/m)
  }),
)

test(
  'C-22: only what is approved, not denied and of a signer with a CA is signed: the leaf alone, in one block',
  onCluster(async cluster => {
    await cluster.start({
      only: ['signing'],
      signers: { [signerNames.kubeletClient]: { certificate: cluster.ca.pem, signer: cluster.ca.signer } },
    })
    const ask = (more: object = {}) => cluster.ask({ by: cluster.bootstrapper, node: 'a', ...more })
    const [pending, denied, foreign, approved] = [
      await ask(),
      await ask(),
      await ask({ signerName: signerNames.apiserverClient }),
      await ask(),
    ]
    await cluster.decide(denied, 'Denied', 'KubectlDeny')
    await cluster.decide(foreign, 'Approved', 'KubectlApprove')
    await cluster.decide(approved, 'Approved', 'KubectlApprove')
    assert.deepEqual(await Promise.all([pending, denied, foreign, approved].map(cluster.fate)), [
      'pending',
      'Denied KubectlDeny',
      'Approved KubectlApprove',
      'Approved KubectlApprove, issued',
    ])
    const pem = Buffer.from((await cluster.read(approved)).status?.certificate ?? '', 'base64').toString()
    assert.deepEqual(
      decodePem(pem).map(({ label }) => label),
      ['CERTIFICATE'],
    )
  }),
)

test(
  'C-38: the certificate is written over the version that was read; when that was changed meanwhile it is tried again',
  onCluster(async cluster => {
    const csrs = resources.certificateSigningRequests
    const versions: (string | undefined)[] = []
    const client: KubeClient = {
      ...cluster.controllerClient,
      async update(resource, object, options) {
        if (resource === csrs && options?.subresource === 'status') {
          versions.push(object.metadata.resourceVersion)
          if (versions.length === 1) {
            const csr = await cluster.read(object.metadata.name)
            const labels = { changed: 'meanwhile' }
            await cluster.admin.update<CertificateSigningRequest>(csrs, {
              ...csr,
              metadata: { ...csr.metadata, labels },
            })
          }
        }
        return cluster.controllerClient.update(resource, object, options)
      },
    }
    await cluster.start({ client })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.clock.advance(1_000)
    await calm()
    const csr = await cluster.read(name)
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
    assert.deepEqual(csr.metadata.labels, { changed: 'meanwhile' })
    assert.equal(new Set(versions).size, 2)
  }),
)
