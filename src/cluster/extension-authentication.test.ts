import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConfigMap, resources } from '../kube/types.ts'
import { startEmbeddedCluster } from '../testing/embedded-cluster.ts'
import { signingAuthority } from '../testing/signing-authority.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { mergedClientCas, publishClientCas } from './extension-authentication.ts'

const now = Date.parse('2026-03-01T12:00:00Z')

test('A-33: the bundle holds every client CA once, until it expires', async () => {
  const [old, young] = await Promise.all([signingAuthority(now, 1), signingAuthority(now, 2)])
  const both = mergedClientCas(old.pem, young.pem, now)
  assert.equal(parseCertificatesPem(both).length, 2)
  assert.equal(mergedClientCas(both, young.pem, now), both)
  assert.equal(mergedClientCas('', young.pem, now), young.pem)
  const later = old.certificate.notAfter + 1
  assert.equal(mergedClientCas(both, '', later), '')
})

test('A-33: the ConfigMap is made, added to, and left alone when it is right', async () => {
  const cluster = await startEmbeddedCluster()
  try {
    const [old, young] = await Promise.all([signingAuthority(now, 1), signingAuthority(now, 2)])
    const target = { name: 'extension-apiserver-authentication', namespace: 'kube-system' }
    const read = () => cluster.admin.get<ConfigMap>(resources.configMaps, target)
    await publishClientCas(cluster.admin, old.pem, now)
    const first = await read()
    assert.deepEqual(first.data, { 'client-ca-file': old.pem })
    await publishClientCas(cluster.admin, old.pem, now)
    assert.equal((await read()).metadata.resourceVersion, first.metadata.resourceVersion)
    await publishClientCas(cluster.admin, young.pem, now)
    assert.equal(parseCertificatesPem((await read()).data?.['client-ca-file'] ?? '').length, 2)
  } finally {
    await cluster.close()
  }
})
