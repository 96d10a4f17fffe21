import assert from 'node:assert/strict'
import { test } from 'node:test'
import { qosClassOf } from './pod-qos.ts'

const podOf = (...resources: object[]) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a' },
  spec: { containers: resources.map(one => ({ resources: one })) },
})

test('a pod’s quality of service follows from what all of its containers ask for and may have', () => {
  const both = { cpu: '1', memory: '1Gi' }
  assert.equal(qosClassOf(podOf({}, { requests: { cpu: '0' } })), 'BestEffort')
  assert.equal(qosClassOf(podOf({ requests: both })), 'Burstable')
  assert.equal(qosClassOf(podOf({ limits: both }, {})), 'Burstable')
  assert.equal(qosClassOf(podOf({ limits: both, requests: { cpu: '500m' } })), 'Burstable')
  assert.equal(qosClassOf(podOf({ limits: { cpu: '1' } })), 'Burstable')
  assert.equal(qosClassOf(podOf({ limits: both }, { limits: both, requests: both })), 'Guaranteed')
})
