import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificatePolicy } from '../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies } from '../kube/rollcall/certificate-policy.ts'
import { onCluster } from '../testing/controlled-cluster.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { defaultPolicySpec, publishPolicy } from './approval-policy.ts'

test(
  'the policy follows the fleet while nobody changes it, and is left alone from then on',
  onCluster(async ({ admin }) => {
    const log = recordingLog()
    const read = () => admin.get<CertificatePolicy>(certificatePolicies, { name: 'default' })
    const publish = (...addresses: string[]) => publishPolicy(admin, defaultPolicySpec(addresses), log)
    await publish('127.0.1.1')
    await publish('127.0.1.1', '127.0.1.2')
    assert.deepEqual((await read()).spec.allowedRanges, ['127.0.1.1/32', '127.0.1.2/32'])
    assert.equal((await read()).metadata.generation, 2)
    const changed = await read()
    await admin.update(certificatePolicies, { ...changed, spec: { preset: 'strict' } })
    await publish('127.0.1.1')
    assert.deepEqual((await read()).spec, { preset: 'strict' })
    assert.equal(log.lines.length, 1)
  }),
)

test(
  'a policy that an operator deleted stays deleted, whatever is started anew',
  onCluster(async ({ admin }) => {
    const log = recordingLog()
    const publish = () => publishPolicy(admin, defaultPolicySpec([]), log)
    await publish()
    await publish()
    await admin.delete(certificatePolicies, { name: 'default' })
    await publish()
    const { items } = await admin.list<CertificatePolicy>(certificatePolicies)
    assert.deepEqual(items, [])
    assert.match(log.lines.join('\n'), /warn: CertificatePolicy default was deleted and is not made again/)
  }),
)
