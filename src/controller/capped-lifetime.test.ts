import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onCluster } from '../testing/controlled-cluster.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'

test(
  'H10: a certificate ends with its CA at the latest, and that is told',
  onCluster(async cluster => {
    await cluster.start({ certificateLifetimeSeconds: 100 * 365 * 86_400 })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    const { status } = await cluster.read(name)
    const [leaf] = parseCertificatesPem(Buffer.from(status?.certificate ?? '', 'base64').toString())
    assert.equal(leaf?.notAfter, cluster.ca.certificate.notAfter)
    assert.ok((await cluster.eventsOf(name)).includes('Warning CappedByCA'))
  }),
)
