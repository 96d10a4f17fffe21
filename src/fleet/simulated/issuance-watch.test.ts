import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoreEvent } from '../../apiserver/storage/store.ts'
import { encodeSigningRequest } from '../../join/signing-request.ts'
import { type CertificateTemplate, servingTemplate } from '../../join/template.ts'
import { generateSigner } from '../../keys/private-key.ts'
import { createTestAuthority } from '../../testing/test-authority.ts'
import { encodePem } from '../../x509/pem.ts'
import { IssuanceWatch } from './issuance-watch.ts'
import { SeededRandom } from './random.ts'

const hour = 3_600_000
const now = Date.parse('2026-05-01T12:00:00Z')
const random = new SeededRandom('issuance')
const authority = await createTestAuthority(random)
const nodes = [
  { name: 'node-1', address: '10.1.0.1' },
  { name: 'node-2', address: '10.1.0.2' },
]

function watchOver(thief?: string) {
  const watch = new IssuanceWatch(nodes, () => now)
  watch.thief = thief
  let listener: (event: StoreEvent) => void = () => {}
  watch.follow({
    revision: 1,
    watch(_, __, run) {
      listener = run
      return () => {}
    },
  })
  let count = 0
  return {
    watch,
    /** A serving certificate for these addresses is written, asked for by the node itself. */
    async issue(name: string, ...addresses: string[]) {
      const list = addresses.map(address => ({
        type: /^[\d.]+$/.test(address) ? 'InternalIP' : 'Hostname',
        address,
      }))
      const template = servingTemplate(name, list, 'Ed25519')
      assert.ok(template)
      count += 1
      listener({ revision: count, key: `csr-${count}`, current: await written(`csr-${count}`, template) })
    },
  }
}

async function written(name: string, template: CertificateTemplate) {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const signer = generateSigner('Ed25519', random)
  const lifetime = { notBefore: now - hour, notAfter: now + hour }
  const object = {
    metadata: { name },
    spec: {
      request: base64(encodePem('CERTIFICATE REQUEST', await encodeSigningRequest(template, signer))),
      signerName: template.signerName,
      username: template.commonName,
    },
    status: {
      conditions: [{ type: 'Approved' }],
      certificate: base64(await authority.sign(template, signer.publicKey, lifetime)),
    },
  }
  const value = new TextEncoder().encode(JSON.stringify(object))
  return { key: name, value, createRevision: 1, modRevision: 1, version: 1 }
}

test('a certificate with the address or name of another node is a violation', async () => {
  const { watch, issue } = watchOver()
  await issue('node-1', '10.1.0.1', 'node-1')
  assert.deepEqual(watch.violations, [])
  await issue('node-1', '10.1.0.1', 'node-2')
  await issue('node-1', '10.1.0.2')
  assert.match(
    watch.violations.join('\n'),
    /csr-2 gave node-1 the name or address node-2\n.*csr-3 gave .* 10\.1\.0\.2/,
  )
})

test('a thief may be certified for what nobody holds yet, and never for what another node holds', async () => {
  const { watch, issue } = watchOver('node-2')
  await issue('node-2', '10.1.0.1', 'node-1')
  assert.deepEqual(watch.violations, [], 'node-1 is yet to come')
  await issue('node-1', '10.1.0.1', 'node-1')
  assert.match(watch.violations.join(), /csr-2 gave node-1 10\.1\.0\.1, which node-2 holds/)
  await issue('node-2', '10.1.0.2', 'node-1')
  assert.match(watch.violations.at(-2) ?? '', /csr-3 gave node-2 the name or address node-1/)
  assert.match(watch.violations.at(-1) ?? '', /csr-3 gave node-2 node-1, which node-1 holds/)
})
