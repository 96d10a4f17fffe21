import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeTrustReport, encodeTrustReport, provenLevel, type ReportedTrust } from './trust-report.ts'

const report: ReportedTrust = {
  role: 'apiserver-serving',
  generation: 7,
  digest: 'ab'.repeat(32),
  subject: 'kubelet',
  instance: { bootID: '6f1c', pid: 812, startTicks: 4711 },
  evidence: 'newer-process',
  loadedAt: 1_780_000_000_000,
}

test('a report proves the bundle of its own generation and digest, and no other', () => {
  const [read] = decodeTrustReport(encodeTrustReport([report])) ?? []
  assert.deepEqual(read, report)
  assert.equal(provenLevel(report, { generation: 7, digest: report.digest }), 2)
  assert.equal(provenLevel(report, { generation: 8, digest: report.digest }), 0)
  assert.equal(provenLevel(report, { generation: 7, digest: 'cd'.repeat(32) }), 0)
})

test('what is no report is none, and never breaks the reader', () => {
  const broken = [
    { role: 'etcd' },
    { generation: -1 },
    { digest: 'x' },
    { subject: 'pod' },
    { instance: null },
    { loadedAt: 1.5 },
  ]
  for (const change of broken)
    assert.equal(decodeTrustReport(JSON.stringify([{ ...report, ...change }])), undefined)
  assert.equal(decodeTrustReport(JSON.stringify(Array(17).fill(report))), undefined)
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), text => void decodeTrustReport(text)))
})
