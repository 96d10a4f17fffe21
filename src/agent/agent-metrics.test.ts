import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock } from '../testing/manual-clock.ts'
import { createAgentMetrics } from './agent-metrics.ts'

const now = Date.parse('2026-05-01T00:00:00Z')
const line = (text: string, name: string) => text.split('\n').find(line => line.startsWith(name))

test('1.8: the names are the kubelet’s, a lapsed certificate gives +Inf there and a negative value in ours', async () => {
  const lapsed = { usableUntil: () => undefined, heldUntil: () => now - 90_000 }
  const valid = { usableUntil: () => now + 3_600_500, heldUntil: () => now + 3_600_500 }
  const metrics = createAgentMetrics(createManualClock(now), lapsed, valid)
  metrics.clientFailed()
  metrics.servingRotated(4000)
  const text = await metrics.text()
  assert.equal(
    line(text, 'kubelet_certificate_manager_client_ttl_seconds'),
    'kubelet_certificate_manager_client_ttl_seconds +Inf',
  )
  assert.equal(
    line(text, 'kubelet_certificate_manager_server_ttl_seconds'),
    'kubelet_certificate_manager_server_ttl_seconds 3600',
  )
  const own = 'rollcall_agent_certificate_ttl_seconds'
  assert.equal(line(text, `${own}{kind="client"}`), `${own}{kind="client"} -90`)
  assert.equal(
    line(text, 'kubelet_certificate_manager_client_expiration_renew_errors'),
    'kubelet_certificate_manager_client_expiration_renew_errors 1',
  )
  const bucket = 'kubelet_certificate_manager_server_rotation_seconds_bucket'
  assert.equal(line(text, `${bucket}{le="3600"}`), `${bucket}{le="3600"} 0`)
  assert.equal(line(text, `${bucket}{le="14400"}`), `${bucket}{le="14400"} 1`)
})

test('1.8: without serverTLSBootstrap there is no serving ttl, and never a certificate means no ttl of ours', async () => {
  const none = { usableUntil: () => undefined, heldUntil: () => undefined }
  const text = await createAgentMetrics(createManualClock(now), none, undefined).text()
  assert.equal(line(text, 'kubelet_certificate_manager_server_ttl_seconds'), undefined)
  assert.equal(line(text, 'rollcall_agent_certificate_ttl_seconds'), undefined)
})
