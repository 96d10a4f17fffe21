import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock } from '../testing/manual-clock.ts'
import { createAgentMetrics } from './agent-metrics.ts'

const now = Date.parse('2026-05-01T00:00:00Z')
const line = (text: string, name: string) => text.split('\n').find(line => line.startsWith(name))

test('the names are the kubelet’s, a lapsed certificate gives +Inf there and a negative value in ours', async () => {
  const lapsed = {
    usableUntil: () => undefined,
    status: () => ({
      notBefore: now - 390_000,
      notAfter: now - 90_000,
      deadline: now - 120_000,
      failures: 3,
    }),
  }
  const until = now + 3_600_500
  const valid = { usableUntil: () => until, status: () => ({ notBefore: now, notAfter: until, failures: 0 }) }
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
  const timestamps = text.split('\n').filter(entry => /_certificate_[a-z_]*(timestamp|attempts)/.test(entry))
  const at = (moment: number) => moment / 1000
  assert.deepEqual(
    timestamps
      .filter(entry => !entry.startsWith('#'))
      .map(entry => entry.replace('rollcall_agent_certificate_', '')),
    [
      `not_before_timestamp_seconds{kind="client"} ${at(now - 390_000)}`,
      `not_before_timestamp_seconds{kind="serving"} ${at(now)}`,
      `expiration_timestamp_seconds{kind="client"} ${at(now - 90_000)}`,
      `expiration_timestamp_seconds{kind="serving"} ${at(until)}`,
      `rotation_deadline_timestamp_seconds{kind="client"} ${at(now - 120_000)}`,
      'failed_attempts{kind="client"} 3',
      'failed_attempts{kind="serving"} 0',
    ],
  )
  assert.equal(
    line(text, 'kubelet_certificate_manager_client_expiration_renew_errors'),
    'kubelet_certificate_manager_client_expiration_renew_errors 1',
  )
  const bucket = 'kubelet_certificate_manager_server_rotation_seconds_bucket'
  assert.equal(line(text, `${bucket}{le="3600"}`), `${bucket}{le="3600"} 0`)
  assert.equal(line(text, `${bucket}{le="14400"}`), `${bucket}{le="14400"} 1`)
})

test('without serverTLSBootstrap there is no serving ttl, and never a certificate means no ttl of ours', async () => {
  const none = { usableUntil: () => undefined, status: () => ({ failures: 0 }) }
  const text = await createAgentMetrics(createManualClock(now), none, undefined).text()
  assert.equal(line(text, 'kubelet_certificate_manager_server_ttl_seconds'), undefined)
  assert.equal(line(text, 'rollcall_agent_certificate_ttl_seconds'), undefined)
})
