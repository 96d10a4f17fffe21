import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CertificateSigningRequest, type KubeNode, signerNames } from '../../kube/types.ts'
import { allChecks } from '../all-checks.ts'
import { nothingGathered } from '../artifacts/artifacts.ts'
import { diagnose, exitCodeOf } from '../diagnose.ts'
import { mostProbes, suspects } from './suspects.ts'

const node = (n: number, ready: 'True' | 'False'): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: `node-${n}` },
  status: { conditions: [{ type: 'Ready', status: ready }] },
})
const fleet = Array.from({ length: 200 }, (_, n) => node(n, n === 150 ? 'False' : 'True'))
const waiting: CertificateSigningRequest = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'csr-1' },
  spec: {
    request: '',
    signerName: signerNames.kubeletServing,
    usages: [],
    username: 'system:node:node-199',
  },
}

test('of a large fleet those are probed first that have reason to be', () => {
  const chosen = suspects(fleet, [waiting]).map(({ metadata }) => metadata.name)
  assert.equal(chosen.length, mostProbes)
  assert.deepEqual(chosen.slice(0, 3), ['node-199', 'node-150', 'node-0'])
  assert.equal(suspects(fleet.slice(0, 9), []).length, 9)
})

test('what was looked at in part is not OK: SKIP, with what is missing, and exit code 4', () => {
  const partial = '50 of 200 nodes were probed'
  const probes = { status: 'ok' as const, value: [], partial }
  const report = diagnose('x', { ...nothingGathered(''), probes }, 0, allChecks)
  const g05 = report.checks.find(({ id }) => id === 'G05')
  assert.deepEqual([g05?.status, g05?.missing], ['SKIP', ['probes']])
  assert.deepEqual(
    report.missing.find(({ artifact }) => artifact === 'probes'),
    { artifact: 'probes', status: 'partial', reason: partial },
  )
  assert.equal(exitCodeOf(report), 4)
})
